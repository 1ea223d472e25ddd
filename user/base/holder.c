/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The note may be old, since a full disk takes no new one, or another's who may write to the
 * directory: it is believed only of a process that is there since before it was written. */
#include "base/holder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/program.h"
#include "base/text.h"

/* Behind the number that xb_lock_note() keeps. */
#define PLACE 64
#define MAGIC 0x316f68576f6c4258ULL /* "XBloWho1" */

struct note {
	uint64_t magic;
	uint64_t namespace; /* inode of the PID namespace; 0: not known */
	uint64_t taken;	    /* CLOCK_BOOTTIME, in ticks of the clock that /proc tells */
	int64_t since;	    /* seconds since 1970 */
	uint32_t process;
	char command[XB_COMMAND_TEXT];
};

static char arguments[XB_COMMAND_TEXT];

void xb_holder_sign(int argc, char *const *argv)
{
	size_t used = 0;

	arguments[0] = '\0';
	for (int i = 0; i < argc && used < sizeof(arguments) - 1; i++)
		used += (size_t)snprintf(arguments + used, sizeof(arguments) - used, " %s",
					 argv[i]);
}

static uint64_t ticks_now(void)
{
	uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * rate + (uint64_t)now.tv_nsec * rate / 1000000000;
}

void xb_holder_note(int lock)
{
	struct note note = {
		.magic = MAGIC,
		.namespace = xb_pid_namespace(),
		.taken = ticks_now(),
		.since = time(NULL),
		.process = (uint32_t)getpid(),
	};

	snprintf(note.command, sizeof(note.command), "%s%s", xb_program(), arguments);
	if (pwrite(lock, &note, sizeof(note), PLACE) != sizeof(note))
		return;
}

/* When the process was started, and its state letter; false: there is none. */
static bool look_up(uint32_t process, uint64_t *started, char *state)
{
	char path[64], text[1024], *behind;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", process);
	if (xb_procfile_read(path, text, sizeof(text)) <= 0)
		return false;
	/* Its name may have blanks and parentheses. */
	behind = strrchr(text, ')');
	return behind && sscanf(behind,
				") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
				"%*d %*d %*d %*d %*d %" SCNu64,
				state, started) == 2;
}

static void show(char *text)
{
	xb_utf8_clean(text);
	for (; *text; text++)
		if (*text == '`')
			*text = '?';
}

/* Of a lock without a note: the process in the kernel's table of locks; 0: it is not there. */
static uint32_t locker(int lock)
{
	FILE *table = fopen("/proc/locks", "re");
	char wanted[64], line[256], place[64];
	uint32_t process = 0, found;
	struct stat st;

	if (!table)
		return 0;
	if (!fstat(lock, &st))
		snprintf(wanted, sizeof(wanted), "%02x:%02x:%ju", major(st.st_dev),
			 minor(st.st_dev), (uintmax_t)st.st_ino);
	else
		*wanted = '\0';
	while (!process && fgets(line, sizeof(line), table))
		if (sscanf(line, "%*d: FLOCK %*s %*s %" SCNu32 " %63s", &found, place) == 2 &&
		    !strcmp(place, wanted))
			process = found;
	fclose(table);
	return process;
}

/* Its words, up to the size of a note's. */
static void command_of(uint32_t process, char out[XB_COMMAND_TEXT])
{
	char path[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cmdline", process);
	size = xb_procfile_read(path, out, XB_COMMAND_TEXT);
	if (size < 0)
		size = 0;
	while (size && !out[size - 1])
		size--;
	out[size] = '\0';
	for (ssize_t i = 0; i < size; i++)
		if (!out[i])
			out[i] = ' ';
	show(out);
}

bool xb_process_look(uint32_t number, struct xb_process *process)
{
	uint64_t started;
	struct tm parts;
	char state;
	time_t since;

	*process = (struct xb_process){.number = number};
	if (!look_up(number, &started, &state))
		return false;
	since = time(NULL) - (time_t)((ticks_now() - started) / (uint64_t)sysconf(_SC_CLK_TCK));
	command_of(number, process->command);
	process->stopped = state == 'T' || state == 't';
	if (!gmtime_r(&since, &parts) ||
	    !strftime(process->since, sizeof(process->since), "%FT%TZ", &parts))
		process->since[0] = '\0';
	return true;
}

const char *xb_process_describe(uint32_t number, char *text, size_t size)
{
	struct xb_process process;

	if (xb_process_look(number, &process))
		snprintf(text, size, "process %" PRIu32 " (`%s`, since %s%s)", number,
			 process.command, process.since, process.stopped ? ", stopped" : "");
	else
		snprintf(text, size, "process %" PRIu32, number);
	return text;
}

static void describe_unsigned(int lock, char *text, size_t size)
{
	uint32_t process = locker(lock);
	uint64_t started;
	char words[XB_COMMAND_TEXT], state;

	snprintf(text, size, "another process");
	if (!process || !look_up(process, &started, &state))
		return;
	command_of(process, words);
	snprintf(text, size, "process %" PRIu32 " (`%s`%s)", process, words,
		 state == 'T' || state == 't' ? ", stopped" : "");
}

const char *xb_holder_describe(int lock, char *text, size_t size)
{
	uint64_t started, ours = xb_pid_namespace();
	struct note note;
	char when[32], state = '?';
	time_t since;
	struct tm parts;

	describe_unsigned(lock, text, size);
	if (pread(lock, &note, sizeof(note), PLACE) != sizeof(note) || note.magic != MAGIC)
		return text;
	note.command[sizeof(note.command) - 1] = '\0';
	show(note.command);
	since = (time_t)note.since;
	if (!gmtime_r(&since, &parts) || !strftime(when, sizeof(when), "%FT%TZ", &parts))
		return text;
	if (ours && note.namespace && note.namespace != ours)
		snprintf(text, size,
			 "process %" PRIu32 " of another PID namespace (`%s`, since %s)",
			 note.process, note.command, when);
	else if (look_up(note.process, &started, &state) && started <= note.taken)
		snprintf(text, size, "process %" PRIu32 " (`%s`, since %s%s)", note.process,
			 note.command, when, state == 'T' || state == 't' ? ", stopped" : "");
	return text;
}
