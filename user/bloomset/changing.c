/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/changing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

const struct option_spec changing_options[] = {
	{"from", "FILE", 'f', .offers = OFFER_FILES, .help = "take what this list has, too"},
	FILTERS_THERE_OPTIONS,
	{0},
};

static void tell_absent(const struct cli *cli, const char *text, size_t size)
{
	char shown[XB_SHOWN + 1];

	if (!cli->quiet)
		fprintf(stderr, "%s is not in the filter\n",
			xb_utf8_show(text, size < XB_SHOWN ? size : XB_SHOWN, shown,
				     sizeof(shown)));
}

static int change(void *to, const char *text, size_t size)
{
	struct changing *changing = to;
	struct xb_filter_hash hash;
	int error = filters_hash(&changing->filter->info, text, size, &changing->element,
				 &changing->room, &hash);

	if (error)
		return error;
	if (!changing->deletes) {
		int put = xb_filter_put_hash(changing->filter, hash);

		changing->new += put > 0;
		changing->done++;
		return put < 0 ? put : 0;
	}
	error = xb_filter_del_hash(changing->filter, hash);
	if (!error)
		changing->done++;
	if (error != -ENOENT)
		return error;
	if (!changing->absent++)
		tell_absent(changing->cli, text, size);
	return 0;
}

static int answer(const struct changing *changing)
{
	const struct cli *cli = changing->cli;
	bool changed = !changing->absent;

	if (cli->json) {
		int code = cli_json(cli, json_pack("{s:b,s:I,s:I,s:I}", "changed", (int)changed,
						   changing->deletes ? "deleted" : "added",
						   (json_int_t)(changed ? changing->done : 0),
						   "new", (json_int_t)changing->new, "absent",
						   (json_int_t)changing->absent));

		return code ? code : changed ? EXIT_DONE : EXIT_ABSENT;
	}
	if (!changed && !cli->quiet)
		fprintf(stderr, "nothing was changed: %llu not in the filter\n", changing->absent);
	else if (!cli->quiet && changing->deletes)
		printf("%llu deleted\n", changing->done);
	else if (!cli->quiet)
		printf("%llu added, %llu of them new\n", changing->done, changing->new);
	return cli_done(changed ? EXIT_DONE : EXIT_ABSENT);
}

static int change_all(struct changing *changing, const char *path, const char *from,
		      struct filters_there *there, char **words, int count)
{
	int error = filters_settle(changing->filter, there);

	if (!error)
		error = elements_take_words(words, count, changing->filter->info.form, change,
					    changing);
	if (!error && from)
		error = elements_read_once(from, &there->terms, change, changing);
	free(changing->element);
	/* What a delete would have changed is in memory alone. */
	if (!error && !changing->absent)
		error = xb_filter_write(changing->filter, path);
	if (error)
		return cli_fail();
	filters_warn_if_full(changing->filter);
	return answer(changing);
}

int changing_run(struct cli *cli, int argc, char **argv, bool deletes)
{
	struct changing changing = {.cli = cli, .deletes = deletes};
	struct filters_there there = {0};
	const char *from = NULL;
	int option, lock = -1, code;

	while ((option = cli_option(cli, argc, argv, changing_options)) != -1) {
		if (option == 'f')
			from = optarg;
		else if (!filters_there(cli, &there, option))
			return EXIT_USAGE;
	}
	if (argc - optind < (from ? 1 : 2))
		return cli_usage(cli, "%s takes a filter, and elements or --from",
				 deletes ? "del" : "add");
	if (filters_open_locked(argv[optind], there.funnel, &changing.filter, &lock))
		return cli_fail();
	code = change_all(&changing, argv[optind], from, &there, argv + optind + 1,
			  argc - optind - 1);
	xb_filter_free(changing.filter);
	filters_unlock(lock);
	return code;
}
