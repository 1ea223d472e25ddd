// SPDX-License-Identifier: GPL-2.0-or-later
// Asks engines of filter lists: reads a line {"text": ..., "names": [...]} at a time, and writes {"dns": [...], "tsurlfilter": [...],
// "ghostery": [...]}, the names that each refuses. By DNS a name is refused if a rule blocks it, or a hosts line leads it nowhere; in a
// browser if all requests to it are blocked.
import { createRequire } from "module";
import { createInterface } from "readline";
import path from "path";

const require = createRequire(path.join(process.argv[2], "x.js"));
const { DnsEngine, Engine, Request, RequestType, RuleStorage, StringRuleList } = require("@adguard/tsurlfilter");
const { FiltersEngine, Request: GhosteryRequest } = require("@ghostery/adblocker");

for (const word of ["log", "info", "warn", "debug"])
    console[word] = console.error;      // what they say of rules is no answer

const NOWHERE = new Set(["0.0.0.0", "127.0.0.1", "::", "::1"]);
const TYPES = [["script", RequestType.Script], ["image", RequestType.Image], ["xhr", RequestType.XmlHttpRequest]];

function requests(name) {
    const found = [];
    for (const start of ["https://", "http://"])
        for (const end of ["/", "/path"])
            for (const page of ["https://elsewhere.test/", "https://" + name + "/"])
                for (const types of TYPES)
                    found.push([start + name + end, page, types]);
    return found;
}

function storage(text) {
    return new RuleStorage([new StringRuleList(1, text, false)]);
}

function byDns(text, names) {
    const engine = new DnsEngine(storage(text));
    return names.filter(name => {
        const result = engine.match(name);
        if (result.basicRule)
            return !result.basicRule.isAllowlist();
        return result.hostRules.length > 0 && result.hostRules.every(rule => NOWHERE.has(rule.getIp()));
    });
}

function byTsurlfilter(text, names) {
    const engine = new Engine(storage(text));
    return names.filter(name => requests(name).every(([url, page, types]) => {
        const rule = engine.matchRequest(new Request(url, page, types[1])).getBasicResult();
        return rule && !rule.isAllowlist();
    }));
}

function byGhostery(text, names) {
    const engine = FiltersEngine.parse(text, { enableOptimizations: false });
    return names.filter(name => requests(name).every(([url, page, types]) =>
        engine.match(GhosteryRequest.fromRawDetails({ url, sourceUrl: page, type: types[0] })).match));
}

for await (const line of createInterface({ input: process.stdin })) {
    const { text, names } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ dns: byDns(text, names), tsurlfilter: byTsurlfilter(text, names),
                                          ghostery: byGhostery(text, names) }) + "\n");
}
