// The composition root's front door: reads the command line and hands each subcommand its options.
#include <CLI/CLI.hpp>

#include "command_options.hpp"

namespace {

using namespace assay;

void add_shared(CLI::App& command, shared_options& shared) {
    command.add_option("--home", shared.home, "Folder of database, key and receipts (default: $XDG_DATA_HOME/assay)")
        ->envname("ASSAY_HOME");
    command.add_option("--browser", shared.browser, "Path of the Chrome or Chromium to launch (default: found)")
        ->envname("ASSAY_BROWSER");
    command.add_option("--browser-switch", shared.browser_switches, "A further browser switch; replaces one of the same name")
        ->allow_extra_args(false);
    command.add_option("--browser-env", shared.browser_environment, "NAME=VALUE for the browser's environment alone")
        ->allow_extra_args(false);
    command.add_option("--attach", shared.attach, "ws://HOST:PORT/devtools/browser/ID: measure in that running browser, never launch one");
    command.add_option("--silence-limit", shared.silence_seconds, "Seconds an arm may be silent before it is ended (default 120)")
        ->check(CLI::Range(1, 86400));
    command.add_option("--web-root", shared.web_root, "The served tree (default: share/assay/web beside the binary)");
    command.add_option("--log-level", shared.log_level, "trace, debug, info, warn, error")
        ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}));
    command.add_option("--log-format", shared.log_format, "text or json")->check(CLI::IsMember({"text", "json"}));
}

/// The server that a command asks; `server` is the option itself.
CLI::Option* add_remote(CLI::App& command, remote_options& remote) {
    command.add_option("--token-file", remote.token_file, "File with the server's token (or the variable ASSAY_TOKEN)");
    command.add_option("--ca", remote.ca_file, "PEM file of the authority that signed the server's certificate");
    return command.add_option("--server", remote.server, "http://HOST:PORT or https://... of `assay serve`")
        ->envname("ASSAY_SERVER");
}

void add_run(CLI::App& app, run_options& run) {
    CLI::App* command = app.add_subcommand("run", "Measure once, A B B A, and leave a signed receipt");
    add_shared(*command, run.shared);
    command->add_option("--preset", run.preset, "Model size: smoke, tiny, small, medium, large, xl, ...")->capture_default_str();
    command->add_option("--model", run.model, "A custom size: layers,d_model,ctx,batch,heads")->delimiter(',')->expected(5);
    command->add_option("--steps", run.steps, "Timed steps an arm")->capture_default_str();
    command->add_option("--warmup", run.warmup, "Warm-up steps an arm, kept apart")->capture_default_str();
    command->add_option("--arms", run.arms, "A,B: the baseline, then the arm compared with it")->capture_default_str();
    command->add_option("--quadruples", run.quadruples, "How often A B B A is run, or 'auto'")->capture_default_str();
    command->add_option("--seed", run.seed, "Seed of weights, batches and order")->capture_default_str();
    command->add_option("--corpus", run.corpus, "A text file to train on (default: the built-in text)");
    command->add_option("--threads", run.threads, "Threads of the multi-threaded arms (default: chosen from the machine)");
    command->add_option("--policy", run.policy, "Adapter policy: a name or a JSON file")->capture_default_str();
    command->add_option("--environment-policy", run.environment_policy, "Environment policy: a name or a JSON file")
        ->capture_default_str();
    command->add_flag("--allow-unqualified", run.allow_unqualified, "Run even where the policy is not met; the result stays unqualified");
    command->add_flag("--fixed-order", run.fixed_order, "Every quadruple A B B A instead of a seeded choice");
    command->add_option("--label", run.label, "A text of your own, kept in the receipt");
    command->add_option("--pipelined-steps", run.pipelined_steps, "Steps of the pipelined throughput figure; 0 leaves it out");
    command->add_option("--slice-steps", run.slice_steps,
                        "WebAssembly arms: measure the four blocks of a quadruple in turn, this many steps at a time, all four browsers open");
    command->add_option("--cool-down", run.cool_down_seconds, "Seconds of rest between arms");
    command->add_option("--settle", run.settle_seconds, "Between arms, wait at most this many seconds until load and temperature are back");
    command->add_option("--warmup-until-stable", run.warmup_bound,
                        "Warm up in blocks of --warmup steps until their median is stable, at most this many steps");
    command->add_option("--repeat-optimizer", run.repeat_optimizer, "Test hook: run the update's arithmetic N times; kept in the receipt");
    command->add_option("--store", run.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->add_option("--output", run.output, "Also write the signed receipt to this file");
    command->add_flag("--json", run.json, "Print the inner receipt, and nothing else, on standard output");
    CLI::Option* const server = add_remote(*command, run.remote);
    command->callback([&run, server] {
        run.on_server = server->count() > 0;
        throw CLI::RuntimeError(command_run(run));
    });
}

void add_serve(CLI::App& app, serve_options& serve) {
    CLI::App* command = app.add_subcommand("serve", "Serve the API and the pages; run what is queued");
    add_shared(*command, serve.shared);
    command->add_option("--config", serve.config, "A JSON configuration file, read again at SIGHUP")->envname("ASSAY_CONFIG");
    command->add_option("--listen", serve.listen, "HOST:PORT; port 0 takes a free one (default: 127.0.0.1:8080)");
    command->add_option("--store", serve.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->add_option("--tls-certificate", serve.tls_certificate, "PEM file of the certificate and its chain: HTTPS only");
    command->add_option("--tls-key", serve.tls_key, "PEM file of the certificate's key");
    command->add_option("--allowed-host", serve.allowed_hosts, "A further name that this server answers to")->allow_extra_args(false);
    command->add_option("--labels", serve.labels, "What runs may ask of this machine, commas between")->delimiter(',');
    command->add_flag("--agents-only", serve.agents_only, "Measure nothing here; agents do the work");
    command->callback([&serve] { throw CLI::RuntimeError(command_serve(serve)); });
}

void add_client(CLI::App& app, runs_options& runs, logs_options& logs, cancel_options& cancel) {
    CLI::App* listing = app.add_subcommand("runs", "List a server's runs, newest first");
    add_remote(*listing, runs.remote)->capture_default_str();
    listing->add_option("--state", runs.state, "Only these: queued, running, done, failed, cancelled, interrupted")
        ->check(CLI::IsMember({"queued", "running", "done", "failed", "cancelled", "interrupted"}));
    listing->add_option("--limit", runs.limit, "How many")->check(CLI::Range(1, 500))->capture_default_str();
    listing->add_flag("--json", runs.json, "The server's own answer on standard output");
    listing->callback([&runs] { throw CLI::RuntimeError(command_runs(runs)); });
    CLI::App* logging = app.add_subcommand("logs", "Where a server's run stands; with --follow, its live events");
    logging->add_option("run", logs.run, "The run's id")->required();
    logging->add_flag("-f,--follow", logs.follow, "Print every event as it comes, a kind and a JSON object a line");
    add_remote(*logging, logs.remote)->capture_default_str();
    logging->callback([&logs] { throw CLI::RuntimeError(command_logs(logs)); });
    CLI::App* ending = app.add_subcommand("cancel", "End a server's run");
    ending->add_option("run", cancel.run, "The run's id")->required();
    add_remote(*ending, cancel.remote)->capture_default_str();
    ending->callback([&cancel] { throw CLI::RuntimeError(command_cancel(cancel)); });
}

void add_token(CLI::App& app, token_options& token) {
    CLI::App* command = app.add_subcommand("token", "Make a token: the secret, and its entry for the configuration file");
    command->add_option("name", token.name, "Who will use it")->required();
    command->add_option("--scopes", token.scopes, "read, trigger, agent, admin, commas between")
        ->delimiter(',')
        ->check(CLI::IsMember({"read", "trigger", "agent", "admin"}))
        ->capture_default_str();
    command->callback([&token] { throw CLI::RuntimeError(command_token(token)); });
}

void add_verify(CLI::App& app, verify_options& verify) {
    CLI::App* command = app.add_subcommand("verify", "Check signed receipts offline: signature, digests, every figure");
    command->add_option("files", verify.files, "Receipt files")->required();
    command->add_flag("--json", verify.json, "One JSON object a file");
    command->add_option("--key", verify.key, "Accept only this key: an id or a public-key file");
    command->add_option("--trust", verify.trust, "A folder of public keys to accept, and of revoked ones");
    command->add_option("--nonce", verify.nonce, "Accept only receipts that answer a request with this nonce");
    command->add_flag("--chain", verify.chain, "Treat the files as one machine's chain and report gaps");
    command->callback([&verify] { throw CLI::RuntimeError(command_verify(verify)); });
}

void add_doctor(CLI::App& app, doctor_options& doctor) {
    CLI::App* command = app.add_subcommand("doctor", "What this machine has, what the gate would say, what to do about it");
    add_shared(*command, doctor.shared);
    command->add_option("--policy", doctor.policy, "Adapter policy to try: a name or a JSON file")->capture_default_str();
    command->add_flag("--json", doctor.json, "One JSON object on standard output");
    command->callback([&doctor] { throw CLI::RuntimeError(command_doctor(doctor)); });
}

void add_keygen(CLI::App& app, keygen_options& keygen) {
    CLI::App* command = app.add_subcommand("keygen", "Make this machine's signing key, or show it");
    command->add_option("--home", keygen.home, "Folder of database, key and receipts (default: $XDG_DATA_HOME/assay)");
    command->add_flag("--rotate", keygen.rotate, "Replace the key; the old one is kept beside it");
    command->callback([&keygen] { throw CLI::RuntimeError(command_keygen(keygen)); });
}

void add_compare(CLI::App& app, compare_options& compare) {
    CLI::App* command = app.add_subcommand("compare", "May two receipts be compared, and what does the comparison say?");
    command->add_option("first", compare.first, "The baseline: a file, a receipt's id, or a machine")->required();
    command->add_option("second", compare.second, "What is compared with it, likewise")->required();
    command->add_option("--fail-if", compare.fail_if,
                        "Exit 4 where this holds: \"ratio<0.95\"; names: ratio, ratio_low, ratio_high, a_ratio, b_ratio, "
                        "first_speedup, second_speedup, drift");
    command->add_flag("--json", compare.json, "One JSON object on standard output");
    command->add_option("--home", compare.home, "Folder of database, key and receipts");
    command->add_option("--store", compare.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->callback([&compare] { throw CLI::RuntimeError(command_compare(compare)); });
}

void add_export(CLI::App& app, export_options& exported) {
    CLI::App* command = app.add_subcommand("export", "Receipts as CSV, JSON Lines, Markdown or a badge");
    command->add_option("receipts", exported.receipts, "Files, receipt ids or machines")->required();
    command->add_option("--format", exported.format, "csv, jsonl, markdown or badge")
        ->check(CLI::IsMember({"csv", "jsonl", "markdown", "badge"}))
        ->capture_default_str();
    command->add_option("--table", exported.table, "steps, arms or receipts (csv and jsonl)")
        ->check(CLI::IsMember({"steps", "arms", "receipts"}))
        ->capture_default_str();
    command->add_option("--home", exported.home, "Folder of database, key and receipts");
    command->add_option("--store", exported.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->callback([&exported] { throw CLI::RuntimeError(command_export(exported)); });
}

void add_import(CLI::App& app, import_options& imported) {
    CLI::App* command = app.add_subcommand("import", "Published figures into receipts of their own evidence class");
    command->add_option("files", imported.files, "Files as results/historical/ has them")->required();
    command->add_option("--home", imported.home, "Folder of database, key and receipts");
    command->add_option("--store", imported.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->callback([&imported] { throw CLI::RuntimeError(command_import(imported)); });
}

void add_site(CLI::App& app, site_options& site) {
    CLI::App* command = app.add_subcommand(
        "site", "Write receipts, curve, comparisons and verifier as plain files that can be published anywhere");
    command->add_option("folder", site.folder, "Where to write; an earlier site there is replaced")->required();
    command->add_option("receipts", site.receipts,
                        "Receipt files, folders of them, or ids (default: every receipt of the store)");
    command->add_option("--verdict", site.verdicts, "Only these: verified,unqualified,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"verified", "unqualified", "refused", "inconclusive", "invalid", "failed"}));
    command->add_option("--preset", site.presets, "Only these model sizes")->delimiter(',')->allow_extra_args(false);
    command->add_option("--machine", site.machines, "Only these machines, by name or id")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_option("--evidence", site.evidence, "Only these evidence classes: measured,historical,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    command->add_flag("--leave-out-broken", site.leave_out_broken,
                      "Write the site without receipts that are missing or do not verify; they are named all the same");
    command->add_option("--home", site.shared.home, "Folder of database, key and receipts");
    command->add_option("--store", site.store, "sqlite://PATH or postgresql://... (default: in the home)");
    command->add_option("--web-root", site.shared.web_root, "The served tree (default: share/assay/web beside the binary)");
    command->callback([&site] { throw CLI::RuntimeError(command_site(site)); });
}

void add_agent(CLI::App& app, agent_options& agent) {
    CLI::App* command = app.add_subcommand("agent", "Measure for a hub: take runs from it, deliver signed receipts to it");
    add_shared(*command, agent.shared);
    command->add_option("--hub", agent.hub, "https://HOST[:PORT] of `assay serve`")->required();
    command->add_option("--token", agent.token, "The hub's token for agents (better: a file or the variable ASSAY_TOKEN,\n"
                        "since every user of a machine can read its command lines)");
    command->add_option("--token-file", agent.token_file, "File that holds the token, on one line");
    command->add_option("--ca", agent.ca_file, "PEM file of the authority that signed the hub's certificate");
    command->add_option("--name", agent.name, "The machine's name at the hub (default: its host name)");
    command->add_option("--labels", agent.labels, "What runs may ask for, commas between: apple-m5,lab-2")->delimiter(',');
    command->callback([&agent] { throw CLI::RuntimeError(command_agent(agent)); });
}

void add_store(CLI::App& app, store_copy_options& copy, store_backup_options& backup, store_prune_options& prune) {
    CLI::App* command = app.add_subcommand("store", "Copy, back up or prune a whole store");
    command->require_subcommand(1);
    CLI::App* copying = command->add_subcommand("copy", "Copy every row into an empty store of either kind and compare them");
    copying->add_option("from", copy.from, "sqlite://PATH or postgresql://...")->required();
    copying->add_option("to", copy.to, "sqlite://PATH or postgresql://..., empty")->required();
    copying->callback([&copy] { throw CLI::RuntimeError(command_store_copy(copy)); });
    CLI::App* saving = command->add_subcommand("backup", "Write a consistent copy to a new SQLite file while the service runs");
    saving->add_option("file", backup.file, "The new file")->required();
    saving->add_option("--store", backup.store, "sqlite://PATH or postgresql://... (default: in the home)");
    saving->add_option("--home", backup.home, "Folder of database, key and receipts");
    saving->callback([&backup] { throw CLI::RuntimeError(command_store_backup(backup)); });
    CLI::App* pruning = command->add_subcommand("prune", "Remove what is older, and give the space back (VACUUM)");
    pruning->add_option("--receipts-days", prune.receipts_days, "Remove receipts older than so many days")
        ->check(CLI::Range(1, 36500));
    pruning->add_option("--runs-days", prune.runs_days, "Remove ended runs older than so many days")
        ->check(CLI::Range(1, 36500));
    pruning->add_option("--store", prune.store, "sqlite://PATH or postgresql://... (default: in the home)");
    pruning->add_option("--home", prune.home, "Folder of database, key and receipts");
    pruning->callback([&prune] { throw CLI::RuntimeError(command_store_prune(prune)); });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{
        "Assay measures, in a real browser, how fast a small GPT trains with WebAssembly and with WebGPU.\n"
        "Exit codes: 0 verified, or unqualified where allowed; 2 usage; 3 refused or unqualified;\n"
        "4 invalid or inconclusive; 5 failed."};
    app.set_version_flag("--version", ASSAY_VERSION);
    app.require_subcommand(1);
    run_options run;
    serve_options serve;
    verify_options verify;
    doctor_options doctor;
    keygen_options keygen;
    compare_options compare;
    export_options exported;
    import_options imported;
    site_options site;
    agent_options agent;
    store_copy_options store_copy;
    store_backup_options store_backup;
    store_prune_options store_prune;
    runs_options runs;
    logs_options logs;
    cancel_options cancel;
    token_options token;
    add_run(app, run);
    add_serve(app, serve);
    add_verify(app, verify);
    add_doctor(app, doctor);
    add_keygen(app, keygen);
    add_compare(app, compare);
    add_export(app, exported);
    add_import(app, imported);
    add_site(app, site);
    add_agent(app, agent);
    add_store(app, store_copy, store_backup, store_prune);
    add_client(app, runs, logs, cancel);
    add_token(app, token);
    try {
        app.parse(argc, argv);
    } catch (const CLI::RuntimeError& done) {
        return done.get_exit_code();
    } catch (const CLI::Success& shown) {
        return app.exit(shown);
    } catch (const CLI::ParseError& wrong) {
        app.exit(wrong);
        return exit_usage;
    }
    return exit_usage;
}
