/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/known.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>

#include "attach/swap.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/netns.h"
#include "bloom/sizing.h"
#include "engine/knownfile.h"

static double rate_of(const struct xb_known_set *set)
{
	double rate;

	memcpy(&rate, &set->rate, sizeof(rate));
	return rate;
}

/*
 * What the set that begins to learn may take of the promised rate: half of what the others leave,
 * so that the sum stays below it (as in Almeida, Baquero, Preguica, Hutchison 2007, "Scalable Bloom
 * Filters"). If less is wanted than before, the promise is kept when the former sets have gone.
 */
static double rate_left(const struct xb_known *known, double wanted)
{
	double left = wanted;

	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++)
		left -= known->lines[i] ? rate_of(&known->set[i]) : 0;
	return (left > wanted / 8 ? left : wanted / 8) / 2;
}

static int size_set(struct xb_known_set *set, uint64_t capacity, double rate, uint32_t *lines)
{
	int error = xb_size_known(capacity, rate, lines);

	if (error)
		return error;
	if ((uint64_t)*lines * sizeof(struct xb_known_line) > xb_memory_available())
		return xb_system_error(
			ENOMEM, "%llu known sources need %llu MiB", (unsigned long long)capacity,
			(unsigned long long)*lines * sizeof(struct xb_known_line) >> 20);
	*set = (struct xb_known_set){.capacity = capacity};
	memcpy(&set->rate, &rate, sizeof(rate));
	return 0;
}

static int create_empty(const struct xb_paths *paths, const struct xb_known_wish *wish,
			struct xb_knownpins *known)
{
	struct xb_known state = {.remember = wish->remember};
	uint32_t lines = 0;
	int error = size_set(&state.set[0], wish->capacity, rate_left(&state, wish->rate), &lines);

	if (!error && getrandom(&state.key, sizeof(state.key), 0) != sizeof(state.key))
		error = xb_system_error(errno, "no random numbers");
	if (error)
		return error;
	state.lines[0] = lines;
	state.period = (uint64_t)(xb_clock_boot() + wish->remember) << 32;
	return xb_knownpins_create(paths->pins, &state, known);
}

static int create(const struct xb_paths *paths, const struct xb_known_wish *wish,
		  struct xb_knownpins *known)
{
	int error = xb_knownfile_load(paths, known);

	if (error == -EUCLEAN)
		xb_warning("no source is known any more: %s", xb_error_message());
	if (error == -EUCLEAN || error == -ENOENT)
		error = create_empty(paths, wish, known);
	xb_fault("known-loaded");
	if (error)
		return error;
	error = xb_knownpins_publish(known);
	if (error)
		xb_knownpins_close(known);
	return error;
}

static void set_remember(struct xb_known *known, uint32_t remember)
{
	uint32_t latest = xb_clock_boot() + remember;
	__u64 period = __atomic_load_n(&known->period, __ATOMIC_SEQ_CST);

	if (known->remember == remember)
		return;
	__atomic_store_n(&known->remember, remember, __ATOMIC_SEQ_CST);
	while (period >> 32 > latest &&
	       !__atomic_compare_exchange_n(&known->period, &period,
					    (__u64)latest << 32 | (uint32_t)period, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static uint64_t most_fresh(const struct xb_known_set *set)
{
	return set->fresh[0] > set->fresh[1] ? set->fresh[0] : set->fresh[1];
}

static bool has_any(const struct xb_known_line *lines, uint32_t count, uint32_t number)
{
	const uint64_t halves = xb_known_half(0) | xb_known_half(1);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t word = __atomic_load_n(&lines[i].word[0], __ATOMIC_RELAXED);

		/* Who is known has a bit in each word of the line. */
		if (xb_known_turned(word, number) & halves)
			return true;
	}
	return false;
}

/* The counters spare the look at sets that have somebody. */
static bool is_empty(struct xb_knownpins *known, uint32_t set, uint32_t now)
{
	const struct xb_known_line *lines =
		most_fresh(&known->known->set[set]) ? NULL : xb_knownpins_lines(known, set);

	return lines && !has_any(lines, known->known->lines[set], now);
}

/* What has been forgotten whole, or has never had anybody. */
static void end_old_sets(struct xb_knownpins *known, uint32_t now)
{
	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++)
		if (known->known->lines[i] && i != known->known->learner &&
		    (now - known->known->set[i].stopped >= 2 || is_empty(known, i, now)))
			xb_knownpins_remove(known, i);
}

/* How many sources the set that learns should have room for; its own capacity: it will do. */
static uint64_t wanted_capacity(const struct xb_known *known, const struct xb_known_wish *wish)
{
	const struct xb_known_set *set = &known->set[known->learner];
	uint64_t capacity = set->capacity > wish->capacity ? set->capacity : wish->capacity;

	/* Few sets have to last for two periods, so a new one is much larger. */
	if (most_fresh(set) > set->capacity - set->capacity / 8 && capacity < 4 * set->capacity)
		capacity = 4 * set->capacity;
	return capacity;
}

static uint32_t free_set(const struct xb_known *known)
{
	uint32_t i = 0;

	while (i < XB_KNOWN_SETS && known->lines[i])
		i++;
	return i;
}

/* No set is free. It will do unless it is fuller than it should be, or other than it should be. */
static int stay(const struct xb_known_set *set, const struct xb_known_wish *wish)
{
	if (most_fresh(set) <= set->capacity && wish->capacity <= set->capacity &&
	    rate_of(set) <= wish->rate)
		return 0;
	return xb_system_error(0,
			       "it has been replaced %d times, and keeps the former ones for up to "
			       "two periods",
			       XB_KNOWN_SETS - 1);
}

/* A larger set, or one of a lower rate, learns from now on. */
static int grow(struct xb_knownpins *pins, const struct xb_known_wish *wish, uint32_t now)
{
	struct xb_known *known = pins->known;
	uint32_t set = free_set(known), lines;
	uint64_t capacity = wanted_capacity(known, wish);
	struct xb_known_set sized;
	int error;

	if (capacity == known->set[known->learner].capacity &&
	    rate_of(&known->set[known->learner]) <= wish->rate)
		return 0;
	if (set == XB_KNOWN_SETS)
		return stay(&known->set[known->learner], wish);
	error = size_set(&sized, capacity, rate_left(known, wish->rate), &lines);
	if (error)
		return error;
	sized.stopped = now; /* should it never begin */
	known->set[set] = sized;
	error = xb_knownpins_add(pins, set, lines);
	if (error)
		return error;
	known->set[known->learner].stopped = now;
	xb_fault("known-grown");
	__atomic_store_n(&known->learner, (uint16_t)set, __ATOMIC_SEQ_CST);
	/* Whoever is still put into the former one is there afterwards. */
	xb_anchor_quiesce();
	end_old_sets(pins, now);
	return 0;
}

static uint32_t free_sets(const struct xb_known *known)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++)
		count += !known->lines[i];
	return count;
}

/* The last set is for the sources that come. One that has nobody is free again at once, when the
 * next one learns. */
static int check_room(struct xb_knownpins *pins, const struct xb_known_wish *wish)
{
	const struct xb_known *known = pins->known;
	const struct xb_known_set *learner = &known->set[known->learner];

	if ((wish->capacity <= learner->capacity && rate_of(learner) <= wish->rate) ||
	    free_sets(known) > 1 ||
	    (free_sets(known) && is_empty(pins, known->learner, (uint32_t)known->period)))
		return 0;
	return xb_system_error(0,
			       "the filter of known sources has been replaced %u times, and keeps "
			       "the former ones for up to two periods: it cannot change before",
			       XB_KNOWN_SETS - 1 - free_sets(known));
}

int xb_known_check(const struct xb_paths *paths, const struct xb_known_wish *wish)
{
	struct xb_knownpins known;
	int error = xb_knownpins_open(paths->pins, &known);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = check_room(&known, wish);
	xb_knownpins_close(&known);
	return error;
}

/* Each is done by the next command if it fails now. */
static void tend(struct xb_knownpins *known, const struct xb_known_wish *wish, bool at_home)
{
	uint64_t here = xb_netns_self().cookie;
	uint32_t now;

	set_remember(known->known, wish->remember);
	now = xb_known_turn(known->known, xb_clock_boot());
	end_old_sets(known, now);
	if (at_home && here && known->known->netns != here)
		__atomic_store_n(&known->known->netns, here, __ATOMIC_SEQ_CST);
	if (grow(known, wish, now))
		xb_warning("the filter of known sources is not what it should be: %s",
			   xb_error_message());
	if (!xb_knownpins_learns(known->pins) && xb_knownpins_learn(known))
		xb_warning("known sources are not learned: %s", xb_error_message());
}

/* What cannot be saved is learned on. */
static void end(const struct xb_paths *paths, struct xb_knownpins *known)
{
	int lock = xb_lock(paths->state, XB_KNOWN_LOCK);
	int error = lock < 0 ? lock : xb_knownfile_save(paths, known);

	xb_unlock(lock);
	if (error) {
		xb_warning("cannot save known sources, so learning goes on: %s",
			   xb_error_message());
		return;
	}
	xb_fault("known-saved");
	xb_knownpins_destroy(paths->pins);
}

int xb_known_settle(const struct xb_paths *paths, uint64_t store, const struct xb_known_wish *wish,
		    bool at_home)
{
	struct xb_knownpins known;
	int error = xb_knownpins_open(paths->pins, &known);

	if (error == -ENOENT && !wish->on) {
		xb_knownpins_destroy(paths->pins);
		return 0;
	}
	if (error == -ENOENT)
		error = create(paths, wish, &known);
	if (error)
		return error;
	if (wish->on) {
		known.known->store = store;
		tend(&known, wish, at_home);
	} else if (known.known->store == store) {
		end(paths, &known);
	}
	xb_knownpins_close(&known);
	return 0;
}

static int save(const struct xb_paths *paths)
{
	struct xb_knownpins known;
	int error = xb_knownpins_open(paths->pins, &known);

	if (error)
		return error;
	xb_fault("known-opened");
	error = xb_knownfile_save(paths, &known);
	xb_knownpins_close(&known);
	return error;
}

#define SAVE_TRIES 16

/* Under the lock from the beginning: who clears must not find that it is written once more. */
int xb_known_save(const struct xb_paths *paths)
{
	int lock, error;

	if (!xb_knownpins_identity(paths->pins))
		return -ENOENT;
	lock = error = xb_lock(paths->state, XB_KNOWN_LOCK);
	/* Writers add and end sets rarely, and one at a time. */
	for (int tries = 0; lock >= 0 && tries < SAVE_TRIES; tries++) {
		error = save(paths);
		if (error != -EAGAIN)
			break;
	}
	xb_unlock(lock);
	return error;
}

int xb_known_clear(const struct xb_paths *paths)
{
	int lock = xb_lock(paths->state, XB_KNOWN_LOCK);
	int error = lock < 0 ? lock : xb_knownfile_remove(paths);

	if (!error)
		xb_knownpins_destroy(paths->pins);
	xb_unlock(lock);
	return error;
}

#define SAMPLE 65536 /* lines */

/* Bits of this period, of the one before, of either; and how likely a stranger is taken for known.
 */
struct sample {
	uint64_t now, before, either, lines;
	double rate;
};

static void add_line(struct sample *sample, const struct xb_known_line *line, uint32_t number)
{
	const uint64_t half = xb_known_half(0);
	double odds[2] = {1, 1};

	for (uint32_t i = 0; i < XB_KNOWN_WORDS; i++) {
		uint64_t word =
			xb_known_turned(__atomic_load_n(&line->word[i], __ATOMIC_RELAXED), number);
		uint64_t halves[2] = {word & half, word >> XB_KNOWN_HALF & half};

		for (uint32_t j = 0; j < 2; j++)
			odds[j] *= __builtin_popcountll(halves[j]) / (double)XB_KNOWN_HALF;
		sample->now += (uint64_t)__builtin_popcountll(halves[number & 1]);
		sample->before += (uint64_t)__builtin_popcountll(halves[~number & 1]);
		sample->either += (uint64_t)__builtin_popcountll(halves[0] | halves[1]);
	}
	sample->rate += odds[0] + odds[1] - odds[0] * odds[1];
	sample->lines++;
}

static int add_set(struct xb_knownpins *pins, uint32_t set, uint32_t number,
		   struct xb_known_view *view)
{
	const struct xb_known_line *lines = xb_knownpins_lines(pins, set);
	uint32_t count = pins->known->lines[set], step = count / SAMPLE + 1;
	struct sample sample = {0};
	double scale;

	if (!lines)
		return -EIO;
	for (uint32_t i = 0; i < count; i += step)
		add_line(&sample, &lines[i], number);
	scale = (double)count / (double)sample.lines;
	view->sets++;
	view->lines += count;
	view->rate += sample.rate / (double)sample.lines;
	view->promised += rate_of(&pins->known->set[set]);
	view->now += scale * xb_known_sources(sample.now, sample.lines);
	view->before += scale * xb_known_sources(sample.before, sample.lines);
	view->sources += scale * xb_known_sources(sample.either, sample.lines);
	return 0;
}

static int look(struct xb_knownpins *pins, struct xb_known_view *view)
{
	const struct xb_known *known = pins->known;
	uint32_t up = xb_clock_boot(),
		 number = (uint32_t)xb_known_next(known->period, known->remember, up);
	uint32_t ends = (uint32_t)(xb_known_next(known->period, known->remember, up) >> 32);
	uint64_t counts[XB_KNOWN_COUNTS], here = xb_netns_self().cookie;
	int error = xb_knownpins_counts(pins, counts);

	view->there = true;
	view->store = known->store;
	view->elsewhere = here && known->netns != here;
	view->remember = known->remember;
	view->left = ends > up ? ends - up : 0;
	view->capacity = known->set[known->learner].capacity;
	view->learned = counts[XB_KNOWN_LEARNED];
	view->renewed = counts[XB_KNOWN_RENEWED];
	view->lost = counts[XB_KNOWN_LOST];
	for (uint32_t i = 0; !error && i < XB_KNOWN_SETS; i++)
		if (known->lines[i] && pins->set[i] >= 0)
			error = add_set(pins, i, number, view);
	return error;
}

int xb_known_look(const struct xb_paths *paths, struct xb_known_view *view)
{
	struct xb_knownpins known;
	int error = xb_knownpins_open(paths->pins, &known);

	*view = (struct xb_known_view){.learns = xb_knownpins_learns(paths->pins),
				       .saved = xb_knownfile_saved(paths)};
	if (error)
		return error == -ENOENT ? 0 : error;
	error = look(&known, view);
	xb_knownpins_close(&known);
	return error;
}

/* Where the bits of a source are. */
struct place {
	struct xb_knownpins pins;
	struct xb_probes probes;
	uint32_t number; /* of the period */
};

/* As of xb_known_test(). The caller closes the pins. */
static int open_place(const struct xb_paths *paths, bool ipv4, uint64_t hi, struct place *place)
{
	int error = xb_knownpins_open(paths->pins, &place->pins);
	const struct xb_known *known;

	if (error)
		return error;
	known = place->pins.known;
	place->number = (uint32_t)known->period;
	place->probes = xb_probes_of(&known->key,
				     ipv4 ? xb_known_hash_ipv4(&known->key, (uint32_t)(hi >> 32))
					  : xb_known_hash_ipv6(&known->key, hi));
	return 0;
}

/* The line of a set, if it has the source; otherwise NULL. */
static struct xb_known_line *line_with(struct place *place, uint32_t set)
{
	uint32_t count = place->pins.known->lines[set];
	struct xb_known_line *lines =
		count && place->pins.set[set] >= 0 ? xb_knownpins_lines(&place->pins, set) : NULL;
	struct xb_known_line *line = lines ? &lines[xb_scale(place->probes.place, count)] : NULL;

	return line && xb_known_line_has(line, &place->probes, place->number) ? line : NULL;
}

int xb_known_test(const struct xb_paths *paths, bool ipv4, uint64_t hi, bool *known)
{
	struct place place;
	int error = open_place(paths, ipv4, hi, &place);

	*known = false;
	if (error)
		return error;
	for (uint32_t i = 0; i < XB_KNOWN_SETS && !*known; i++)
		*known = line_with(&place, i);
	xb_knownpins_close(&place.pins);
	return 0;
}

int xb_known_anybody(const struct xb_paths *paths, bool *anybody)
{
	struct xb_knownpins pins;
	uint32_t number;
	int error = xb_knownpins_open(paths->pins, &pins);

	*anybody = false;
	if (error)
		return error == -ENOENT ? 0 : error;
	number = (uint32_t)pins.known->period;
	for (uint32_t i = 0; i < XB_KNOWN_SETS && !*anybody; i++) {
		const struct xb_known_line *lines =
			pins.known->lines[i] ? xb_knownpins_lines(&pins, i) : NULL;

		*anybody = lines && has_any(lines, pins.known->lines[i], number);
	}
	xb_knownpins_close(&pins);
	return 0;
}

/* Bits of the period of this parity in a word. */
static int bits_of(uint64_t word, uint32_t half, uint32_t number)
{
	return __builtin_popcountll(xb_known_turned(word, number) & xb_known_half(half));
}

/*
 * One bit is enough: all eight of them would take more of the others. It is the one in the word
 * that has most, where it is least likely to be another's. Returns how many sources had it, too.
 */
static double clear_bit(struct xb_known_line *line, const struct xb_probes *probes, uint32_t half,
			uint32_t number)
{
	int bits, all = 0, most = -1;
	uint32_t fullest = 0;
	double sources;

	for (uint32_t i = 0; i < XB_KNOWN_WORDS; i++) {
		bits = bits_of(line->word[i], half, number);
		all += bits;
		if (bits > most) {
			most = bits;
			fullest = i;
		}
	}
	__atomic_fetch_and(&line->word[fullest],
			   ~(1ULL << (xb_known_bit(probes, fullest) + XB_KNOWN_HALF * half)),
			   __ATOMIC_SEQ_CST);
	if (all == XB_KNOWN_WORDS * XB_KNOWN_HALF)
		all--; /* a full line says only that there were many */
	/* As many as there are more sources than bits in the word came upon a bit of another. */
	sources = log1p(-all / (double)(XB_KNOWN_WORDS * XB_KNOWN_HALF)) /
		  log1p(-1.0 / XB_KNOWN_HALF);
	return sources > most ? 2 * (sources - most) / sources : 0;
}

int xb_known_forget(const struct xb_paths *paths, bool ipv4, uint64_t hi, bool *was_known,
		    double *others)
{
	struct place place;
	int error = open_place(paths, ipv4, hi, &place);

	*was_known = false;
	*others = 0;
	if (error)
		return error;
	for (uint32_t i = 0; i < XB_KNOWN_SETS; i++) {
		struct xb_known_line *line = line_with(&place, i);

		*was_known |= line != NULL;
		for (uint32_t half = 0; line && half < 2; half++)
			*others += clear_bit(line, &place.probes, half, place.number);
	}
	xb_knownpins_close(&place.pins);
	return 0;
}
