// The command line after parsing: one plain struct a subcommand. Every command answers with an exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace assay {

/// What the process answers: see `assay --help`.
enum exit_code : int {
    exit_verified = 0,     ///< verified, or unqualified where that was allowed; for other commands: done
    exit_usage = 2,
    exit_refused = 3,      ///< refused, or unqualified where that was not allowed
    exit_inconclusive = 4, ///< invalid or inconclusive
    exit_failed = 5,
};

/// What every command that touches a browser or the home takes.
struct shared_options {
    std::optional<std::string> home;
    std::optional<std::string> browser;
    std::vector<std::string> browser_switches;  ///< further or replacing switches, as "--name=value"
    std::vector<std::string> browser_environment;  ///< "NAME=VALUE" for the browser alone
    std::optional<std::string> attach;  ///< ws://HOST:PORT/devtools/browser/ID: use that browser instead of launching one
    std::optional<int> silence_seconds;  ///< the longest silence of an arm; absent: 120
    std::optional<std::string> web_root;        ///< the served tree; default: beside the binary
    std::optional<std::string> log_level;   ///< default: warn
    std::optional<std::string> log_format;  ///< "text" or "json"; default: text
};

/// A server that the command line asks.
struct remote_options {
    std::string server = "http://127.0.0.1:8080";
    std::optional<std::string> token_file;  ///< else ASSAY_TOKEN
    std::optional<std::string> ca_file;     ///< PEM; default: the system's authorities
};

struct run_options {
    shared_options shared;
    remote_options remote;
    bool on_server = false;  ///< measure there instead of here
    std::string preset = "large";
    int steps = 20;
    int warmup = 3;
    std::string arms = "wasm-simd-mt,webgpu";
    std::string quadruples = "1";
    std::string seed = "42";
    std::string corpus;  ///< a file; empty: built in
    std::optional<int> threads;
    std::string policy = "apple-metal-3";
    std::string environment_policy = "default";
    bool allow_unqualified = false;
    bool fixed_order = false;
    std::optional<std::string> label;
    std::optional<std::string> output;
    bool json = false;
    int pipelined_steps = 0;
    std::optional<int> slice_steps;
    std::optional<int> cool_down_seconds;
    std::optional<int> settle_seconds;
    std::optional<int> warmup_bound;  ///< warm up until stable, at most this many steps
    std::optional<int> repeat_optimizer;
    std::vector<std::string> model;  ///< "layers,d_model,ctx,batch,heads" as one text, in place of the preset
    std::optional<std::string> store;
};

struct serve_options {
    shared_options shared;
    std::optional<std::string> config;  ///< a JSON file; the flags below are stronger than it and than ASSAY_*
    std::optional<std::string> listen;  ///< default: 127.0.0.1:8080
    std::optional<std::string> store;
    std::optional<std::string> tls_certificate, tls_key;  ///< PEM files
    std::vector<std::string> allowed_hosts, labels;
    bool agents_only = false;  ///< this machine measures nothing itself
};

struct agent_options {
    shared_options shared;
    std::string hub;
    std::optional<std::string> token;       ///< else ASSAY_TOKEN
    std::optional<std::string> token_file;  ///< comes before both
    std::optional<std::string> ca_file;     ///< PEM
    std::optional<std::string> name;
    std::vector<std::string> labels;
};

struct runs_options {
    remote_options remote;
    std::optional<std::string> state;
    int limit = 20;
    bool json = false;
};

struct logs_options {
    remote_options remote;
    std::string run;
    bool follow = false;
};

struct cancel_options {
    remote_options remote;
    std::string run;
};

struct token_options {
    std::string name;
    std::vector<std::string> scopes = {"read"};
};

struct store_prune_options {
    std::optional<std::string> home, store;
    std::optional<int> receipts_days, runs_days;
};

struct store_copy_options {
    std::string from, to;
};

struct store_backup_options {
    std::optional<std::string> home, store;
    std::string file;
};

struct verify_options {
    std::vector<std::string> files;
    bool json = false;
    std::optional<std::string> key;
    std::optional<std::string> trust;
    std::optional<std::string> nonce;  ///< what the request asked with
    bool chain = false;
};

struct doctor_options {
    shared_options shared;
    std::string policy = "apple-metal-3";
    bool json = false;
};

struct keygen_options {
    std::optional<std::string> home;
    bool rotate = false;
};

struct compare_options {
    std::string first, second;  ///< a file, a receipt's id, or a machine
    std::optional<std::string> home, store, fail_if;
    bool json = false;
};

struct export_options {
    std::vector<std::string> receipts;  ///< files, ids or machines
    std::string format = "csv";         ///< csv, jsonl, markdown or badge
    std::string table = "steps";        ///< steps, arms or receipts, for csv and jsonl
    std::optional<std::string> home, store;
};

struct import_options {
    std::vector<std::string> files;
    std::optional<std::string> home, store;
};

struct site_options {
    shared_options shared;
    std::string folder;
    std::vector<std::string> receipts;  ///< files, folders or ids; empty: every receipt of the store
    std::vector<std::string> verdicts, presets, machines, evidence;  ///< filters
    bool leave_out_broken = false;
    std::optional<std::string> store;
};

int command_run(const run_options& options);
int command_serve(const serve_options& options);
int command_verify(const verify_options& options);
int command_doctor(const doctor_options& options);
int command_keygen(const keygen_options& options);
int command_compare(const compare_options& options);
int command_export(const export_options& options);
int command_import(const import_options& options);
int command_site(const site_options& options);
int command_agent(const agent_options& options);
int command_runs(const runs_options& options);
int command_logs(const logs_options& options);
int command_cancel(const cancel_options& options);
int command_token(const token_options& options);
int command_store_prune(const store_prune_options& options);
int command_store_copy(const store_copy_options& options);
int command_store_backup(const store_backup_options& options);

/// Prints an error on standard error in the command line's one form; returns the exit code that suits it.
int report_error(const error& cause);

}  // namespace assay
