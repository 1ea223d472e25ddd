/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A number of lines that is not 0 says that the set is whole; a number of 0, that whatever is left
 * of it is to be cleared away. So a process may die anywhere. */
#include "attach/knownpins.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "attach/cgroup.h"
#include "attach/percpu.h"
#include "attach/pin.h"
#include "base/capability.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/netns.h"
#include "base/program.h"
#include "known.skel.h"

#define NEW_PINS "known-new"

#define CLOSED                                                                                     \
	{                                                                                          \
		.state = -1, .sets = -1, .counts = -1, .met = -1, .set = { -1, -1, -1, -1 }        \
	}
const struct xb_knownpins xb_no_knownpins = CLOSED;
_Static_assert(XB_KNOWN_SETS == 4, "as many as are closed");

void xb_knownpins_close(struct xb_knownpins *known)
{
	const int fds[] = {known->state, known->sets, known->counts, known->met};

	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++) {
		xb_mapping_close(&known->bits[i]);
		if (known->set[i] >= 0)
			close(known->set[i]);
	}
	xb_mapping_close(&known->window);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*known = xb_no_knownpins;
}

static void name_set(uint32_t set, char name[16])
{
	snprintf(name, 16, "set-%u", set);
}

static int open_map(const struct xb_pins *from, const char *name, uint32_t type, uint32_t bytes,
		    int *fd)
{
	*fd = xb_pins_get_map(from, name, type, bytes);
	return *fd >= 0 ? 0 : *fd == -EBADF ? -ENOENT : *fd;
}

static int map_state(struct xb_knownpins *known)
{
	int error = xb_mapping_open(&known->window, known->state, sizeof(struct xb_known));

	if (!error)
		error = xb_mapping_map_all(&known->window);
	if (!error)
		known->known = (struct xb_known *)(void *)known->window.base;
	return error;
}

static uint32_t entries_of(int map)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(map, &info, &size) ? 0 : info.max_entries;
}

static int open_sets(struct xb_knownpins *known, const struct xb_pins *from)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < XB_KNOWN_SETS; i++) {
		char name[16];

		if (!known->known->lines[i])
			continue;
		name_set(i, name);
		error = open_map(from, name, BPF_MAP_TYPE_ARRAY, sizeof(struct xb_known_line),
				 &known->set[i]);
		if (!error && entries_of(known->set[i]) != known->known->lines[i])
			error = -ENOENT;
	}
	return error;
}

static bool is_sound(const struct xb_known *known)
{
	return known->layout == XB_KNOWN_LAYOUT && known->identity && known->remember &&
	       known->learner < XB_KNOWN_SETS && known->lines[known->learner];
}

/* -ENOENT without a message: there are none. */
static int read_state(const char *pins, struct xb_known *state, uint32_t *bytes)
{
	struct xb_pins from;
	int error = xb_pins_open(pins, XB_KNOWN_PINS, &from);

	if (error)
		return error;
	error = xb_pins_read(&from, "state", state, sizeof(*state), bytes);
	xb_pins_close(&from);
	return error == -EBADF ? -ENOENT : error;
}

int xb_knownpins_refuse_newer(const char *pins)
{
	struct xb_known state;
	uint32_t bytes;
	int error = read_state(pins, &state, &bytes);

	if (!error && state.layout > XB_KNOWN_LAYOUT)
		return xb_system_error(0,
				       "the known sources in %s are those of a newer %s (layout "
				       "%u, this one has %d); use that one",
				       pins, xb_program(), state.layout, XB_KNOWN_LAYOUT);
	return error == -ENOENT ? 0 : error;
}

static int open_pins(struct xb_knownpins *known, const struct xb_pins *from)
{
	int error =
		open_map(from, "state", BPF_MAP_TYPE_ARRAY, sizeof(struct xb_known), &known->state);

	if (!error)
		error = open_map(from, "sets", BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(uint32_t),
				 &known->sets);
	if (!error)
		error = open_map(from, "counts", BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint64_t),
				 &known->counts);
	if (!error)
		error = open_map(from, "met", BPF_MAP_TYPE_LRU_HASH, sizeof(struct xb_met),
				 &known->met);
	if (error == -ENOENT && known->counts >= 0)
		error = 0;
	if (!error)
		error = map_state(known);
	if (!error && !is_sound(known->known))
		error = -ENOENT;
	return error ? error : open_sets(known, from);
}

int xb_knownpins_open(const char *pins, struct xb_knownpins *known)
{
	struct xb_pins from;
	int error = xb_pins_open(pins, XB_KNOWN_PINS, &from);

	*known = xb_no_knownpins;
	known->pins = pins;
	if (error)
		return error;
	error = open_pins(known, &from);
	xb_pins_close(&from);
	if (error)
		xb_knownpins_close(known);
	return error;
}

bool xb_knownpins_have(const struct xb_knownpins *known, const struct xb_known *state)
{
	bool all = state->learner < XB_KNOWN_SETS && state->lines[state->learner];

	for (uint32_t i = 0; all && i < XB_KNOWN_SETS; i++)
		all = !state->lines[i] ||
		      (known->bits[i].base && entries_of(known->set[i]) == state->lines[i]);
	return all;
}

struct xb_known_line *xb_knownpins_lines(struct xb_knownpins *known, uint32_t set)
{
	struct xb_mapping *bits = &known->bits[set];

	if (!bits->base &&
	    (xb_mapping_open(bits, known->set[set],
			     (size_t)known->known->lines[set] * sizeof(struct xb_known_line)) ||
	     xb_mapping_map_all(bits)))
		return NULL;
	return (struct xb_known_line *)(void *)bits->base;
}

/* below: the directory that holds the pins now. */
static int add_set(struct xb_knownpins *known, const char *below, uint32_t set, uint32_t lines)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	char name[16];
	int fd, error;

	name_set(set, name);
	xb_unpin(known->pins, below, name); /* of one that did not come to life */
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "known_set", sizeof(uint32_t),
			    sizeof(struct xb_known_line), lines, &options);
	if (fd < 0)
		return xb_system_error(errno, "cannot create a map of %u lines", lines);
	known->set[set] = fd;
	error = xb_pin(fd, known->pins, below, name);
	if (!error && bpf_map_update_elem(known->sets, &set, &fd, BPF_ANY))
		error = xb_system_error(errno, "cannot write a BPF map");
	xb_fault("known-set-pinned");
	if (!error)
		__atomic_store_n(&known->known->lines[set], lines, __ATOMIC_SEQ_CST);
	return error;
}

int xb_knownpins_add(struct xb_knownpins *known, uint32_t set, uint32_t lines)
{
	return add_set(known, XB_KNOWN_PINS, set, lines);
}

void xb_knownpins_remove(struct xb_knownpins *known, uint32_t set)
{
	char name[16];

	__atomic_store_n(&known->known->lines[set], 0, __ATOMIC_SEQ_CST);
	xb_fault("known-set-ended");
	bpf_map_delete_elem(known->sets, &set);
	name_set(set, name);
	xb_unpin(known->pins, XB_KNOWN_PINS, name);
	xb_mapping_close(&known->bits[set]);
	if (known->set[set] >= 0)
		close(known->set[set]);
	known->set[set] = -1;
}

/* The maps are those of the program that learns, without the program. */
static int create_maps(struct xb_knownpins *known)
{
	struct known_bpf *skeleton = known_bpf__open();
	int error;

	if (!skeleton)
		return xb_system_error(errno, "cannot open the program that learns");
	bpf_program__set_autoload(skeleton->progs.xdp_bloom_known, false);
	error = known_bpf__load(skeleton);
	if (error) {
		known_bpf__destroy(skeleton);
		return xb_system_error(-error, "cannot create the maps of known sources");
	}
	known->state = dup(bpf_map__fd(skeleton->maps.known_state));
	known->sets = dup(bpf_map__fd(skeleton->maps.known_sets));
	known->counts = dup(bpf_map__fd(skeleton->maps.known_counts));
	known->met = dup(bpf_map__fd(skeleton->maps.known_met));
	if (known->state < 0 || known->sets < 0 || known->counts < 0 || known->met < 0)
		error = xb_system_error(errno, "cannot duplicate a descriptor");
	known_bpf__destroy(skeleton);
	return error;
}

static int pin_maps(const struct xb_knownpins *known)
{
	int error = xb_pin_subdirectory(known->pins, NEW_PINS);

	if (!error)
		error = xb_pin(known->state, known->pins, NEW_PINS, "state");
	if (!error)
		error = xb_pin(known->sets, known->pins, NEW_PINS, "sets");
	if (!error)
		error = xb_pin(known->counts, known->pins, NEW_PINS, "counts");
	return error ? error : xb_pin(known->met, known->pins, NEW_PINS, "met");
}

static int begin_state(struct xb_known *known, const struct xb_known *state)
{
	*known = *state;
	known->layout = XB_KNOWN_LAYOUT;
	known->netns = xb_netns_self().cookie;
	memset(known->lines, 0, sizeof(known->lines));
	known->identity = 0;
	while (!known->identity)
		if (getrandom(&known->identity, sizeof(known->identity), 0) < 0)
			return xb_system_error(errno, "no random numbers");
	return 0;
}

int xb_knownpins_create(const char *pins, const struct xb_known *state, struct xb_knownpins *known)
{
	int error = xb_capabilities_need();

	*known = xb_no_knownpins;
	known->pins = pins;
	if (!error)
		error = xb_pin_directory(pins);
	if (error)
		return error;
	xb_unpin_directory(pins, XB_PINS_TOP, NEW_PINS);
	error = create_maps(known);
	if (!error)
		error = map_state(known);
	if (!error)
		error = pin_maps(known);
	if (!error)
		error = begin_state(known->known, state);
	for (uint32_t i = 0; !error && i < XB_KNOWN_SETS; i++)
		if (state->lines[i])
			error = add_set(known, NEW_PINS, i, state->lines[i]);
	if (error) {
		xb_unpin_directory(pins, XB_PINS_TOP, NEW_PINS);
		xb_knownpins_close(known);
	}
	return error;
}

int xb_knownpins_publish(struct xb_knownpins *known)
{
	char staged[XB_PATH_MAX], final[XB_PATH_MAX];

	xb_knownpins_destroy(known->pins);
	xb_fault("known-publish");
	if (xb_path_join(staged, known->pins, NEW_PINS) ||
	    xb_path_join(final, known->pins, XB_KNOWN_PINS))
		return -EINVAL;
	return rename(staged, final) < 0 ? xb_system_error(errno, "cannot publish %s", final) : 0;
}

static int load(const struct xb_knownpins *known, struct known_bpf **out)
{
	struct known_bpf *skeleton = known_bpf__open();
	int error;

	*out = skeleton;
	if (!skeleton)
		return xb_system_error(errno, "cannot open the program that learns");
	error = bpf_map__reuse_fd(skeleton->maps.known_state, known->state);
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.known_sets, known->sets);
	if (!error)
		error = bpf_map__reuse_fd(skeleton->maps.known_counts, known->counts);
	if (!error && known->met >= 0)
		error = bpf_map__reuse_fd(skeleton->maps.known_met, known->met);
	if (!error)
		error = known_bpf__load(skeleton);
	return error ? xb_system_error(-error, "the kernel refused the program that learns (Linux "
					       "6.1 or later is needed)")
		     : 0;
}

int xb_knownpins_learn(struct xb_knownpins *known)
{
	struct known_bpf *skeleton = NULL;
	int group = xb_cgroup_root(), link = -1, error;

	if (group < 0)
		return group;
	error = load(known, &skeleton);
	if (!error && skeleton) {
		link = bpf_link_create(bpf_program__fd(skeleton->progs.xdp_bloom_known), group,
				       BPF_CGROUP_SOCK_OPS, NULL);
		error = link < 0 ? xb_system_error(errno, "cannot attach the program that learns "
							  "to cgroup v2")
				 : 0;
	}
	xb_fault("known-attached");
	if (!error) {
		xb_unpin(known->pins, XB_KNOWN_PINS, "link");
		error = xb_pin(link, known->pins, XB_KNOWN_PINS, "link");
	}
	/* Last: beside the link of a program that does not fill it, it would say that all is well.
	 */
	if (!error && known->met < 0)
		error = xb_pin(bpf_map__fd(skeleton->maps.known_met), known->pins, XB_KNOWN_PINS,
			       "met");
	if (link >= 0)
		close(link);
	known_bpf__destroy(skeleton);
	close(group);
	return error;
}

bool xb_knownpins_learns(const char *pins)
{
	struct bpf_link_info info = {0};
	uint32_t size = sizeof(info);
	int link = xb_pin_open(pins, XB_KNOWN_PINS, "link"), met;
	bool learns;

	if (link < 0)
		return false;
	met = xb_pin_open(pins, XB_KNOWN_PINS, "met");
	learns = !bpf_obj_get_info_by_fd(link, &info, &size) && info.type == BPF_LINK_TYPE_CGROUP &&
		 info.cgroup.attach_type == BPF_CGROUP_SOCK_OPS && info.cgroup.cgroup_id &&
		 met >= 0;
	close(link);
	if (met >= 0)
		close(met);
	return learns;
}

int xb_knownpins_counts(const struct xb_knownpins *known, uint64_t sum[XB_KNOWN_COUNTS])
{
	int cpus = xb_percpu_values(), error = 0;
	uint64_t *each;

	memset(sum, 0, XB_KNOWN_COUNTS * sizeof(*sum));
	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return xb_out_of_memory();
	for (uint32_t i = 0; !error && i < XB_KNOWN_COUNTS; i++) {
		if (bpf_map_lookup_elem(known->counts, &i, each))
			error = xb_system_error(errno, "cannot read a BPF map");
		for (int cpu = 0; !error && cpu < cpus; cpu++)
			sum[i] += each[cpu];
	}
	free(each);
	return error;
}

int xb_knownpins_met(const struct xb_knownpins *known, bool ipv4, uint64_t hi, uint16_t port,
		     struct xb_met *met)
{
	struct xb_met_key key = {.hi = hi, .port = port, .family = ipv4 ? 4 : 6};

	*met = (struct xb_met){0};
	if (known->met < 0 || !bpf_map_lookup_elem(known->met, &key, met) || errno == ENOENT)
		return 0;
	return xb_system_error(errno, "cannot read a BPF map");
}

void xb_knownpins_destroy(const char *pins)
{
	/* First: what is left is nothing from then on. */
	xb_unpin(pins, XB_KNOWN_PINS, "state");
	xb_unpin_directory(pins, XB_PINS_TOP, XB_KNOWN_PINS);
}

uint64_t xb_knownpins_identity(const char *pins)
{
	struct xb_known state;
	uint32_t bytes;

	return !read_state(pins, &state, &bytes) && bytes == sizeof(state) &&
			       state.layout == XB_KNOWN_LAYOUT
		       ? state.identity
		       : 0;
}
