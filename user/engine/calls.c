/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attach/dispatcher.h"
#include "attach/pin.h"
#include "base/clock.h"
#include "base/error.h"
#include "machine/neighbours.h"

#define MILLISECOND 1000000ULL /* ns */

#define LOOKS	   3		       /* between which packets came, and no call */
#define PACKETS	   3		       /* without a call, before anything is said */
#define LATER	   (200 * MILLISECOND) /* in skb mode, a busy machine calls so much later */
#define NAPI_BATCH 64 /* a driver may count as many at once, after it has called the program */
#define FEW	   8  /* of such a batch, while nothing else comes */
#define RECENT	   10 /* seconds */

#define PATIENCE    (1000 * MILLISECOND)
#define ASKED_QUIET 300	  /* ms for an answer of a neighbour */
#define LOOK_FIRST  1000  /* us; then twice as long each time */
#define LOOK_LAST   50000 /* us */

/* What this process knows of the interface in each row. */
static struct memory {
	uint32_t ifindex, program; /* ifindex 0: it has not looked yet */
	bool called;		  /* since the note; late tells how many packets were not counted */
	bool proven;		  /* calls were seen between two looks of this process */
	uint64_t received, calls; /* when calls were last seen */
	uint64_t last;		  /* packets received at the last look */
	uint32_t late_slack;	  /* of the note */
	uint64_t late;		  /* received between note and first look, beyond the calls */
	uint32_t slack, looks;	  /* looks: between which packets came, and no call */
	uint64_t since;		  /* the first of these looks, xb_clock() */
	uint64_t seen;		  /* as in the view */
	bool ever;
} memories[XB_IFACE_ROWS];

static int count_calls(const struct xb_anchor *anchor, uint32_t row, uint64_t *calls)
{
	struct xb_counts sum;
	int error = xb_anchor_counts(anchor, row, &sum);

	*calls = 0;
	for (int reason = 0; !error && reason < XB_REASON_SLOTS; reason++)
		*calls += sum.reason[reason].packets;
	return error;
}

int xb_calls_read(const struct xb_anchor *anchor, uint32_t row, struct xb_calls_row *out)
{
	int error = count_calls(anchor, row, &out->calls);

	return error ? error : xb_anchor_note_get(anchor, row, &out->note);
}

static int read_rows(const struct xb_anchor *anchor, uint32_t end, struct xb_calls_row *rows)
{
	struct xb_iface_note *notes = calloc(end, sizeof(*notes));
	uint64_t *calls = calloc(end, sizeof(*calls));
	int error = notes && calls ? 0 : xb_out_of_memory();

	if (!error)
		error = xb_anchor_packets(anchor, end, calls);
	if (!error)
		error = xb_anchor_notes(anchor, end, notes);
	for (uint32_t i = 0; !error && i < end; i++)
		rows[i] = (struct xb_calls_row){.calls = calls[i], .note = notes[i]};
	free(calls);
	free(notes);
	return error;
}

int xb_calls_read_all(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		      size_t count, struct xb_calls_row **rows)
{
	uint32_t end = 1;
	int error;

	for (size_t i = 0; i < count; i++)
		if (enrolled[i].row >= end)
			end = enrolled[i].row + 1;
	*rows = calloc(XB_IFACE_ROWS, sizeof(**rows));
	if (!*rows)
		return xb_out_of_memory();
	error = read_rows(anchor, end < XB_IFACE_ROWS ? end : XB_IFACE_ROWS, *rows);
	if (error) {
		free(*rows);
		*rows = NULL;
	}
	return error;
}

static uint32_t batches(void)
{
	static uint32_t packets; /* asking each time takes longer than the rest of a look */

	if (!packets)
		packets = NAPI_BATCH * (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	return packets;
}

static void begin(struct memory *memory, const struct xb_netdev *device,
		  const struct xb_iface_note *note)
{
	*memory = (struct memory){
		.ifindex = device->ifindex,
		.program = device->program,
		.received = note->received,
		.calls = note->calls,
		.last = note->received,
		.slack = note->slack,
		.late_slack = note->slack,
		.seen = note->seen,
		.ever = note->calls,
	};
}

/* Nothing was noted: what came so far was another program's, or an older version's. */
static void begin_now(struct memory *memory, uint64_t received, uint64_t calls)
{
	memory->received = memory->last = received;
	memory->calls = calls;
	memory->looks = 0;
	memory->seen = (uint64_t)time(NULL);
}

/* Between two looks, or before the first one, the program was called. */
static void see(struct memory *memory, uint64_t received, uint64_t calls, bool first)
{
	uint64_t came = received - memory->received, called = calls - memory->calls;

	memory->called = true;
	memory->late = first && came > called ? came - called : 0;
	memory->proven = !first;
	memory->received = memory->last = received;
	memory->calls = calls;
	memory->slack = batches();
	memory->looks = 0;
	memory->seen = first ? memory->seen : (uint64_t)time(NULL);
	memory->ever = true;
}

static enum xb_calls judge(const struct memory *memory)
{
	uint64_t missed = memory->last - memory->received;

	if (memory->looks >= LOOKS && missed >= PACKETS && xb_clock() - memory->since >= LATER)
		return XB_CALLS_MISSING;
	if (missed >= PACKETS + (memory->looks > 1 ? 0 : memory->slack))
		return XB_CALLS_DOUBTED;
	if (memory->proven)
		return XB_CALLS_SEEN;
	if (memory->late >= PACKETS + memory->late_slack)
		return XB_CALLS_DOUBTED;
	return memory->called ? XB_CALLS_SEEN : XB_CALLS_QUIET;
}

/* The row is that of another interface or program now, the counters began anew, or somebody has
 * attached the interface again. */
static bool is_outdated(const struct memory *memory, const struct xb_netdev *device,
			const struct xb_iface_note *note, uint64_t calls)
{
	return memory->ifindex != device->ifindex || memory->program != device->program ||
	       device->received < memory->received || calls < memory->calls ||
	       note->seen > memory->seen;
}

/* Calls were seen between two looks, but who compares with the note finds too few of them. */
static bool is_stale(const struct memory *memory, const struct xb_iface_note *note)
{
	uint64_t came = memory->received - note->received, called = memory->calls - note->calls;

	return memory->proven && memory->received > note->received &&
	       came >= called + PACKETS + note->slack;
}

void xb_calls_look(uint32_t row, const struct xb_calls_row *now, const struct xb_netdev *device,
		   struct xb_calls_view *view)
{
	struct memory *memory = &memories[row % XB_IFACE_ROWS];
	const struct xb_iface_note *note = &now->note;
	uint64_t calls = now->calls;
	bool first = is_outdated(memory, device, note, calls);

	if (first)
		begin(memory, device, note);
	if (!memory->seen || device->received < memory->received || calls < memory->calls) {
		begin_now(memory, device->received, calls);
	} else if (calls != memory->calls) {
		see(memory, device->received, calls, first);
	} else if (device->received > memory->last) {
		memory->last = device->received;
		if (!memory->looks++)
			memory->since = xb_clock();
	}
	*view = (struct xb_calls_view){
		.calls = judge(memory),
		.ever = memory->ever,
		.seen = memory->seen,
		.missed = memory->last - memory->received + memory->late,
		.cures = memory->calls > note->calls ? 0 : note->cures,
		.stale = is_stale(memory, note),
		.reopened = note->seen && (note->ups != device->ups || note->mtu != device->mtu),
	};
}

/* Both counters, and how many packets one of them may have that the other has not yet. A driver may
 * be in the middle of a batch, if only of a few packets where none came while this read. */
static int read_both(const struct xb_anchor *anchor, uint32_t row, uint32_t ifindex,
		     struct xb_netdev *device, struct xb_iface_note *note)
{
	uint64_t calls, after;
	int error = count_calls(anchor, row, &calls);

	if (!error)
		error = xb_netdev_by_index(ifindex, device);
	if (!error)
		error = count_calls(anchor, row, &after);
	if (error)
		return error;
	note->calls = calls;
	note->received = device->received;
	note->slack = after == calls ? FEW : batches();
	note->seen = (uint64_t)time(NULL);
	return 0;
}

/* Each write would note anew what the next one replaces. */
static bool is_recent(const struct xb_iface_note *note)
{
	uint64_t now = (uint64_t)time(NULL);

	return now >= note->seen && now - note->seen < RECENT;
}

int xb_calls_note(const struct xb_anchor *anchor, uint32_t row, uint32_t ifindex,
		  const struct xb_calls_view *view)
{
	struct memory *memory = &memories[row % XB_IFACE_ROWS];
	struct xb_iface_note note;
	struct xb_netdev device;
	int error;

	if (view->calls != XB_CALLS_SEEN || memory->ifindex != ifindex)
		return 0;
	error = xb_anchor_note_get(anchor, row, &note);
	if (error || note.calls == memory->calls || (is_recent(&note) && !view->stale))
		return error;
	error = read_both(anchor, row, ifindex, &device, &note);
	if (error)
		return error;
	note.cures = 0;
	memory->seen = note.seen;
	return xb_anchor_note_put(anchor, row, &note);
}

int xb_calls_begin(const struct xb_anchor *anchor, uint32_t row, uint32_t ifindex, uint32_t cures)
{
	struct xb_iface_note note;
	struct xb_netdev device;
	int error = xb_anchor_note_get(anchor, row, &note);

	if (!error)
		error = read_both(anchor, row, ifindex, &device, &note);
	if (error)
		return error;
	note.ups = device.ups;
	note.mtu = device.mtu;
	note.cures = cures;
	memories[row % XB_IFACE_ROWS] = (struct memory){0};
	return xb_anchor_note_put(anchor, row, &note);
}

bool xb_calls_prove_nothing(const struct xb_anchor *anchor, uint32_t ifindex)
{
	return anchor->flavour == XB_FLAVOUR_DISPATCHER && xb_dispatcher_is_shared(anchor, ifindex);
}

static const struct xb_netdev *find_device(const struct xb_netdev *all, size_t count,
					   uint32_t ifindex)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].ifindex == ifindex)
			return &all[i];
	return NULL;
}

static int poll_rows(const struct xb_anchor *anchor, const struct xb_enrolled *enrolled,
		     size_t rows, enum xb_calls *worst, bool *hurry, bool *due)
{
	uint32_t entry = anchor->entry < 0 ? 0 : xb_program_id(anchor->entry);
	struct xb_calls_row *now = NULL;
	struct xb_netdev *devices = NULL;
	size_t count = 0;
	int error = xb_calls_read_all(anchor, enrolled, rows, &now);

	if (!error)
		error = xb_netdev_all(&devices, &count);
	for (size_t i = 0; !error && i < rows; i++) {
		const struct xb_netdev *device = find_device(devices, count, enrolled[i].ifindex);
		struct xb_calls_view view;

		if (!device || !device->program || (entry && device->program != entry))
			continue;
		xb_calls_look(enrolled[i].row, &now[enrolled[i].row % XB_IFACE_ROWS], device,
			      &view);
		*worst = view.calls > *worst ? view.calls : *worst;
		*due |= view.stale;
		*hurry = *hurry || memories[enrolled[i].row % XB_IFACE_ROWS].looks;
	}
	free(devices);
	free(now);
	return error;
}

int xb_calls_poll(const char *pins, enum xb_calls *worst, bool *hurry, bool *due)
{
	struct xb_enrolled *enrolled = NULL;
	struct xb_anchor anchor;
	size_t rows;
	int error = xb_anchor_open(pins, &anchor);

	*worst = XB_CALLS_QUIET;
	*hurry = *due = false;
	if (error)
		return error == -ENOENT || error == -ESTALE ? 0 : error;
	if (!anchor.elsewhere)
		error = xb_anchor_enrolled(&anchor, &enrolled, &rows);
	if (!error && enrolled)
		error = poll_rows(&anchor, enrolled, rows, worst, hurry, due);
	free(enrolled);
	xb_anchor_close(&anchor);
	return error;
}

static bool is_open(const struct xb_call_watch *item)
{
	return item->device.ifindex && item->view.calls != XB_CALLS_SEEN &&
	       item->view.calls != XB_CALLS_MISSING;
}

/* *open: how many are neither seen nor missing. *came: packets have come. */
static int look_at_open(const struct xb_anchor *anchor, struct xb_call_watch *item, size_t count,
			size_t *open, bool *came)
{
	*open = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t before = item[i].device.received;
		uint32_t ifindex = item[i].device.ifindex, program = item[i].device.program;
		struct xb_calls_row now;
		int error;

		if (!is_open(&item[i]))
			continue;
		error = xb_calls_read(anchor, item[i].row, &now);
		if (!error)
			error = xb_netdev_by_index(ifindex, &item[i].device);
		if (error)
			return error;
		if (item[i].device.program != program)
			item[i].device.ifindex = 0;
		if (item[i].device.ifindex)
			xb_calls_look(item[i].row, &now, &item[i].device, &item[i].view);
		*came |= item[i].device.received > before;
		*open += is_open(&item[i]);
	}
	return 0;
}

static unsigned int ask_neighbours(const struct xb_call_watch *item, size_t count)
{
	unsigned int asked = 0;

	for (size_t i = 0; i < count; i++)
		if (is_open(&item[i]))
			asked += xb_neighbours_ask(item[i].device.ifindex);
	return asked;
}

int xb_calls_watch(const struct xb_anchor *anchor, struct xb_call_watch *item, size_t count,
		   unsigned int quiet)
{
	uint64_t begun = xb_clock(), last = begun, pause = LOOK_FIRST;
	size_t open = 0;
	int error;

	if (ask_neighbours(item, count) && quiet < ASKED_QUIET)
		quiet = ASKED_QUIET;
	for (;;) {
		bool came = false;

		error = look_at_open(anchor, item, count, &open, &came);
		if (error || !open)
			return error;
		last = came ? xb_clock() : last;
		if (xb_clock() - begun >= PATIENCE || xb_clock() - last >= quiet * MILLISECOND)
			return 0;
		usleep((useconds_t)pause);
		pause = pause * 2 > LOOK_LAST ? LOOK_LAST : pause * 2;
	}
}
