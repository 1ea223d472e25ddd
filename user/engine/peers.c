/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record for each: the session is the key, where and when it was seen the value. */
#include "engine/peers.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "store/lmdbpage.h"

/* How long a session is believed in that cannot be looked at. */
#define UNSEEN_SECONDS (7 * 24 * 3600)
/* How old `seen` may get before it is written anew. */
#define SEEN_SECONDS (24 * 3600)

struct key {
	uint64_t started;
	uint32_t pid;
	uint16_t port;
	uint8_t entry_bytes;
	uint8_t entry[XB_ADDRESS_KEY_BYTES];
};

struct value {
	struct xb_vantage from;
	int64_t seen; /* seconds since 1970 */
};

static int write_error(int error)
{
	return xb_lmdb_error(error, "cannot write the store");
}

static void make_key(const struct xb_session *session, struct key *key)
{
	uint8_t peer[XB_ENTRY_KEY_BYTES] = {0};

	memset(key, 0, sizeof(*key));
	key->started = session->started;
	key->pid = session->pid;
	key->port = session->peer_port;
	key->entry_bytes = (uint8_t)xb_entry_encode(&session->peer, peer);
	memcpy(key->entry, peer, sizeof(key->entry));
}

static bool read_key(const MDB_val *bytes, struct xb_session *session)
{
	struct key key;

	if (bytes->mv_size != sizeof(key))
		return false;
	memcpy(&key, bytes->mv_data, sizeof(key));
	*session =
		(struct xb_session){.pid = key.pid, .started = key.started, .peer_port = key.port};
	return xb_entry_decode(key.entry, key.entry_bytes, &session->peer);
}

static bool read_value(const MDB_val *bytes, struct value *value)
{
	if (bytes->mv_size != sizeof(*value))
		return false;
	memcpy(value, bytes->mv_data, sizeof(*value));
	return true;
}

/* Whether the record says as much as one written now would. */
static bool is_fresh(const MDB_val *bytes, const struct xb_vantage *here, int64_t now)
{
	struct value value;

	return read_value(bytes, &value) && !memcmp(&value.from, here, sizeof(*here)) &&
	       value.seen <= now && now - value.seen < SEEN_SECONDS;
}

int xb_peers_put(struct xb_txn *txn, const struct xb_session *session, bool *changed)
{
	struct value value = {.seen = time(NULL)};
	struct key key;
	MDB_val name = {sizeof(key), &key}, data = {sizeof(value), &value}, old = {0};
	int error;

	xb_vantage_here(&value.from);
	make_key(session, &key);
	error = mdb_get(txn->txn, txn->store->sessions, &name, &old);
	if (error && error != MDB_NOTFOUND)
		return write_error(error);
	if (!error && is_fresh(&old, &value.from, value.seen))
		return 0;
	*changed |= error == MDB_NOTFOUND;
	txn->edits++;
	error = mdb_put(txn->txn, txn->store->sessions, &name, &data, 0);
	return error ? write_error(error) : 0;
}

static bool lives(const struct xb_session *session, const MDB_val *bytes,
		  const struct xb_vantage *here, int64_t now)
{
	struct value value;

	if (!read_value(bytes, &value))
		return xb_session_lives(session);
	if (memcmp(value.from.boot, here->boot, sizeof(here->boot)) != 0)
		return false;
	if (here->pid_namespace && value.from.pid_namespace == here->pid_namespace)
		return xb_session_lives(session);
	return now - value.seen < UNSEEN_SECONDS;
}

static int sift_one(struct xb_txn *txn, MDB_cursor *cursor, const MDB_val *key,
		    const MDB_val *value, struct xb_lifelines *found, bool *changed)
{
	struct xb_session session;
	struct xb_vantage here;
	int error;

	xb_vantage_here(&here);
	if (read_key(key, &session) && lives(&session, value, &here, time(NULL)))
		return found ? xb_lifelines_add(found, &session.peer, XB_LIFELINE_SSH,
						"process %u, from port %u", session.pid,
						session.peer_port)
			     : 0;
	*changed = true;
	txn->edits++;
	error = xb_lmdbpage_check(txn->txn, txn->store->sessions, key);
	if (!error)
		error = mdb_cursor_del(cursor, 0);
	return error ? write_error(error) : 0;
}

int xb_peers_sift(struct xb_txn *txn, struct xb_lifelines *found, bool *changed)
{
	MDB_cursor *cursor;
	MDB_val key = {0}, value = {0};
	int more, error = mdb_cursor_open(txn->txn, txn->store->sessions, &cursor);

	if (error)
		return write_error(error);
	do {
		more = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
		if (!more)
			error = sift_one(txn, cursor, &key, &value, found, changed);
	} while (!more && !error);
	mdb_cursor_close(cursor);
	return error || more == MDB_NOTFOUND ? error : write_error(more);
}
