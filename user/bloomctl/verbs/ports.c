/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl ports: where names are looked for. */
#include "model/nameports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/settingsjson.h"
#include "engine/writepath.h"

struct request {
	enum xb_carrier carrier;
	uint16_t ports[XB_NAME_PORTS];
};

static int body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;
	struct xb_name_ports *all = &writer->txn->meta.ports;
	uint16_t *ports = xb_ports_of(all, request->carrier);

	if (!memcmp(ports, request->ports, sizeof(request->ports)))
		return 0;
	memcpy(ports, request->ports, sizeof(request->ports));
	writer->txn->edits++;
	return xb_ports_check(all, request->carrier);
}

/* One kind of ports, or all if carrier is XB_CARRIERS. */
static int answer(const struct cli *cli, struct xb_name_ports *ports, enum xb_carrier carrier)
{
	json_t *object = cli->json ? json_object() : NULL;
	char text[XB_PORTS_TEXT];

	for (enum xb_carrier one = 0; one < XB_CARRIERS; one++) {
		if (carrier != XB_CARRIERS && carrier != one)
			continue;
		if (object)
			json_object_set_new(object, xb_carrier_name(one),
					    xb_ports_json(xb_ports_of(ports, one)));
		else if (carrier == XB_CARRIERS)
			printf("%-4s %s\n", xb_carrier_name(one),
			       xb_ports_format(xb_ports_of(ports, one), text));
		else
			puts(xb_ports_format(xb_ports_of(ports, one), text));
	}
	return object ? cli_json(cli, json_pack("{s:o}", "ports", object)) : cli_done(EXIT_DONE);
}

static int show(const struct cli *cli, enum xb_carrier carrier)
{
	struct xb_name_ports ports = {.dns = {XB_DNS_PORT}};
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (!error)
		ports = txn->meta.ports;
	xb_store_end_reading(store, txn);
	return error && error != -ENOENT ? cli_fail() : answer(cli, &ports, carrier);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct request request = {.carrier = XB_CARRIERS};
	struct xb_name_ports set = {0};

	if (cli_option(cli, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	if (argc > 2)
		return cli_usage(cli, "ports takes dns, tls or http, and ports with ',' between");
	if (argc && xb_carrier_parse(argv[0], &request.carrier))
		return cli_fail();
	if (argc < 2)
		return show(cli, request.carrier);
	if (xb_ports_parse(argv[1], request.ports) ||
	    xb_write(&cli->paths, 0, body, &request, cli->written))
		return cli_fail();
	memcpy(xb_ports_of(&set, request.carrier), request.ports, sizeof(request.ports));
	return cli->json ? answer(cli, &set, request.carrier) : EXIT_DONE;
}

const struct verb verb_ports = {
	.name = "ports",
	.summary = "set the ports on which the filter looks for names",
	.operands = {{"dns|tls|http", .optional = true}, {"PORT,...|off", .optional = true}},
	.run = run,
	.examples = {"ports", "ports tls 443"},
};
