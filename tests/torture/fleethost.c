/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleethost STATE PINS RUN LOG COMMAND [WORD...]: a host of a fleet, by the functions of bloomd,
 * whose server is a file to which nothing happens: it has the entries of the log, each behind its
 * size.
 *
 * join LIST...: publishes and follows these lists from the begin of the log on.
 * publish COUNT: appends as many changes that wait as one entry, or as many as there are. The store
 * is only read. Does nothing if the store has not the whole log yet. Prints how many they were.
 * follow: applies what the log has and the store has not.
 * show: the position, how many changes wait, and the digest of each list.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/follow.h"
#include "bloomd/fleet/logentry.h"
#include "engine/writepath.h"

static const struct mac_key key = {{7}};
static struct xb_paths paths;
static const char *log_file;
static struct follow_queue queue; /* the whole log */
static bool more;		  /* than one write applies */
static uint64_t last_number;	  /* of the one publisher, in the log */

static void give_up(const char *why)
{
	fprintf(stderr, "fleethost: %s\n", why);
	exit(3);
}

static void must(int error)
{
	if (error)
		give_up(xb_error_message());
}

/* --- the log --- */

/* A change that was published twice has its number twice. */
static void look_at_numbers(const struct follow_item *item)
{
	struct logentry entry = {0};

	must(logentry_read(item->bytes, item->size, &entry));
	if (entry.first <= last_number)
		give_up("a change was published twice");
	last_number = entry.last;
	logentry_free(&entry);
}

static void read_log(void)
{
	static uint8_t bytes[LOGENTRY_BYTES];
	FILE *file = fopen(log_file, "re");
	uint32_t size;

	while (file && fread(&size, sizeof(size), 1, file) == 1) {
		if (size > sizeof(bytes) || fread(bytes, size, 1, file) != 1)
			give_up("the log is cut off");
		must(follow_queue_add(&queue, queue.count + 1, bytes, size));
		look_at_numbers(&queue.item[queue.count - 1]);
	}
	if (file)
		fclose(file);
}

static void append_to_log(const uint8_t *bytes, uint32_t size)
{
	FILE *file = fopen(log_file, "ae");

	if (!file || fwrite(&size, sizeof(size), 1, file) != 1 ||
	    fwrite(bytes, size, 1, file) != 1 || fclose(file))
		give_up("cannot append to the log");
}

/* --- commands --- */

static void must_be_in_fleet(struct xb_txn *txn, struct xb_fleet *fleet)
{
	int found = xb_fleet_get(txn, fleet);

	must(found < 0 ? found : 0);
	if (!found)
		give_up("this host is in no fleet");
}

static int join(struct xb_writer *writer, void *context)
{
	int error = xb_fleet_join(writer->txn, "torture");
	struct xb_fleet fleet;

	for (char **list = context; !error && *list; list++)
		error = xb_share_set(writer->txn, *list,
				     XB_SHARE_PUBLISH | XB_SHARE_FOLLOW | XB_SHARE_JOINED);
	if (error)
		return error;
	must_be_in_fleet(writer->txn, &fleet);
	fleet.term = fleet.epoch[0] = 1;
	return xb_fleet_put(writer->txn, &fleet);
}

static size_t publish(struct xb_txn *txn, const struct xb_fleet *fleet, size_t most)
{
	struct logentry entry = {.kind = LOGENTRY_CHANGE, .term = fleet->term, .time = 1};
	size_t count, size;
	uint8_t *bytes;

	must(xb_outbox_read(txn, most, LOGENTRY_BYTES / 2, &entry.changes));
	count = entry.changes.count;
	if (count) {
		memcpy(entry.epoch, fleet->epoch, XB_FLEET_ID);
		memcpy(entry.publisher, fleet->host, XB_FLEET_ID);
		entry.first = entry.changes.number[0];
		entry.last = entry.changes.number[count - 1];
		must(logentry_write(&entry, &key, fleet->position + 1, fleet->chain, &bytes,
				    &size));
		append_to_log(bytes, (uint32_t)size);
		free(bytes);
	}
	logentry_free(&entry);
	return count;
}

static int follow(struct xb_writer *writer, void *context)
{
	struct follow follow = {.key = &key, .queue = &queue};
	int error = follow_apply(writer, &follow);

	(void)context;
	more = follow.stop == FOLLOW_MORE;
	if (!error && follow.stop != FOLLOW_ALL && !more)
		give_up(follow.stop == FOLLOW_BAD ? follow.why : "the log does not go on");
	return error;
}

static void show(struct xb_txn *txn, const struct xb_fleet *fleet)
{
	uint64_t waiting, first, last;
	size_t count;
	const struct xb_share *shares = xb_shares(txn, &count);

	must(xb_outbox_span(txn, &waiting, &first, &last));
	printf("position %" PRIu64 "\nwaiting %" PRIu64 "\n", fleet->position, waiting);
	for (size_t i = 0; i < count; i++) {
		struct xb_digest digest;

		must(xb_share_digest(txn, &shares[i], 0, &digest));
		printf("digest %s %016" PRIx64 "%016" PRIx64 "\n", shares[i].list, digest.half[1],
		       digest.half[0]);
	}
}

static void write_by(int (*body)(struct xb_writer *writer, void *context), void *context)
{
	struct xb_written written = {0};

	must(xb_write(&paths, 0, body, context, &written));
	xb_written_free(&written);
}

static void read_for(const char *command, const char *word)
{
	struct xb_store *store;
	struct xb_fleet fleet;
	struct xb_txn *txn;

	must(xb_store_begin_reading(paths.state, &store, &txn));
	must_be_in_fleet(txn, &fleet);
	if (!strcmp(command, "show"))
		show(txn, &fleet);
	else
		printf("%zu\n", fleet.position < queue.count
					? 0
					: publish(txn, &fleet, strtoul(word, NULL, 10)));
	xb_store_end_reading(store, txn);
}

int main(int argc, char **argv)
{
	if (argc < 6 || (!strcmp(argv[5], "publish") && argc != 7)) {
		fprintf(stderr, "usage: fleethost STATE PINS RUN LOG COMMAND [WORD...]; the "
				"torture does it\n");
		return 2;
	}
	paths = (struct xb_paths){argv[1], argv[2], argv[3]};
	log_file = argv[4];
	read_log();
	if (!strcmp(argv[5], "join"))
		write_by(join, argv + 6);
	else if (!strcmp(argv[5], "follow"))
		do
			write_by(follow, NULL);
		while (more);
	else
		read_for(argv[5], argv[6]);
	follow_queue_clear(&queue);
	return 0;
}
