"""The checks find what they are for: each on a small tree that breaks one rule."""

import tempfile
import unittest
from pathlib import Path

import content_checks as content
import layout_checks as layout
from tree import Tree


class ChecksFindBrokenRules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def messages(self, check, files, **options):
        """What the check says about a tree that holds just these files."""
        root = Path(tempfile.mkdtemp(dir=self.folder.name))
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return [str(finding) for finding in check(Tree(root), **options)]

    def assert_found(self, check, files, words, **options):
        messages = self.messages(check, files, **options)
        self.assertEqual(len(messages), 1, messages)
        self.assertIn(words, messages[0])

    def assert_clean(self, check, files, **options):
        self.assertEqual(self.messages(check, files, **options), [])

    def test_an_include_to_the_right_is_found(self):
        self.assert_found(layout.check_includes, {"orchestrator/gate/a.cpp": '#include "run/ports.hpp"\n'}, "to its right, run")

    def test_an_include_of_a_sibling_is_found(self):
        self.assert_found(layout.check_includes, {"orchestrator/store/a.cpp": '#include "http/b.hpp"\n'}, "its sibling http")

    def test_includes_to_the_left_and_of_the_own_room_are_fine(self):
        self.assert_clean(layout.check_includes, {
            "orchestrator/run/a.cpp": '#include "run/b.hpp"\n#include "gate/c.hpp"\n#include "core/d.hpp"\n',
            "orchestrator/main.cpp": '#include "http/b.hpp"\n#include "store/c.hpp"\n#include "command_options.hpp"\n',
        })

    def test_an_include_that_names_no_room_is_found(self):
        self.assert_found(layout.check_includes, {"orchestrator/run/a.cpp": '#include "b.hpp"\n'}, 'write "run/b.hpp"')

    def test_an_include_that_climbs_out_is_found(self):
        self.assert_found(layout.check_includes, {"orchestrator/run/a.cpp": '#include "../trainer_wasm/src/abi.hpp"\n'}, "leaves")

    def test_a_trainer_that_includes_the_orchestrator_is_found(self):
        self.assert_found(layout.check_includes, {"trainer_wasm/src/a.cpp": '#include "core/clock.hpp"\n'}, "of the orchestrator")

    def test_a_strange_room_folder_or_root_file_is_found(self):
        self.assert_found(layout.check_folders, {"orchestrator/utilities/a.cpp": ""}, "no room orchestrator/utilities")
        self.assert_found(layout.check_folders, {"source/a.cpp": ""}, "no folder source/")
        self.assert_found(layout.check_folders, {"tests/misc/a.cpp": ""}, "no folder tests/misc")
        self.assert_found(layout.check_folders, {"notes.txt": ""}, "does not belong in the root")

    def test_a_name_in_camel_case_is_found(self):
        self.assert_found(layout.check_names, {"orchestrator/run/RunQueue.cpp": ""}, "not in snake_case")
        self.assert_clean(layout.check_names, {"tests/unit/run/run_queue.test.cpp": ""})

    def test_a_long_file_is_found(self):
        self.assert_found(layout.check_length, {"orchestrator/run/a.cpp": "x\n" * 451}, "451 lines")
        self.assert_clean(layout.check_length, {"orchestrator/run/a.cpp": "x\n" * 450})

    def test_a_large_file_is_found(self):
        self.assert_found(layout.check_length, {"results/a.json": "x" * (1 << 20) + "x"}, "bytes in a tracked file")

    def test_generated_files_are_found(self):
        for name in ("trainer_wasm/web/dist/a.js", "trainer_wasm/a.wasm", "compile_commands.json", "a/__pycache__/b.txt"):
            self.assert_found(layout.check_generated, {name: ""}, "generated file")

    def test_a_header_without_a_guard_is_found(self):
        self.assert_found(layout.check_header_guards, {"orchestrator/run/a.hpp": "int a;\n"}, "#pragma once")

    def test_json_outside_its_places_is_found(self):
        include = "#include <nlohmann/json.hpp>\n"
        self.assert_found(content.check_json_places, {"orchestrator/http/a.cpp": include}, "do not live here")
        self.assert_found(content.check_json_places, {"orchestrator/browser/chrome_process.cpp": include}, "do not live here")
        self.assert_clean(content.check_json_places, {
            "orchestrator/contract/a.cpp": include, "orchestrator/browser/cdp_session.cpp": include,
            "orchestrator/receipt/a.cpp": include,
        })

    def test_a_switch_without_a_reason_is_found(self):
        name = "orchestrator/browser/chrome_switches.cpp"
        self.assert_found(content.check_switch_reasons, {name: 'add("--no-first-run");\n'}, "--no-first-run has no reason")
        self.assert_clean(content.check_switch_reasons, {name: 'add("--no-first-run"); // no welcome page\n'})
        self.assert_clean(content.check_switch_reasons, {name: '// no welcome page\nadd("--no-first-run");\n'})
        self.assert_clean(content.check_switch_reasons, {name: '{"--no-first-run", "no welcome page"},\n'})

    def test_marks_of_unfinished_work_are_found(self):
        self.assert_found(content.check_unfinished, {"orchestrator/run/a.cpp": "// TODO later\n"}, "unfinished")

    def test_skipped_and_lonely_tests_are_found(self):
        self.assert_found(content.check_skipped_tests, {"tests/browser/a.test.ts": 'it.skip("x", () => {});\n'}, "skipped")
        self.assert_found(content.check_skipped_tests, {"tests/browser/a.test.ts": 'describe.only("x", f);\n'}, "skipped")
        self.assert_found(
            content.check_skipped_tests, {"tests/unit/a.cpp": 'TEST_CASE("x" * doctest::skip()) {}\n'}, "skipped")

    def test_paths_and_hosts_of_one_machine_are_found(self):
        self.assert_found(content.check_machine_paths, {"docs/a.md": "see /home/someone/x\n"}, "path of one machine", hosts=set())
        self.assert_found(
            content.check_machine_paths, {"docs/a.md": "curl https://packages.example/x\n"}, "package registry",
            hosts={"packages.example"})
        self.assert_found(
            content.check_machine_paths, {"package-lock.json": '"resolved": "https://x"\n'}, "names an address", hosts=set())
        self.assert_clean(content.check_machine_paths, {"docs/a.md": "a/" + "work/b and https://host/home/x/\n"}, hosts=set())

    def test_shaders_that_are_not_plain_or_not_listed_are_found(self):
        good = "// Adds.\n@compute @workgroup_size(1) fn main() {}\n"
        listing = '{"kernels": [{"file": "add.wgsl"}]}'
        self.assert_clean(content.check_shaders, {"shaders/add.wgsl": good, "shaders/kernels.json": listing})
        self.assert_found(
            content.check_shaders, {"shaders/add.wgsl": good[9:], "shaders/kernels.json": listing}, "no header")
        self.assert_found(
            content.check_shaders, {"shaders/add.wgsl": "// Adds.\n", "shaders/kernels.json": listing}, "no @compute")
        self.assert_found(
            content.check_shaders, {"shaders/add.wgsl": good + "#include x\n", "shaders/kernels.json": listing}, "not plain")
        self.assert_found(
            content.check_shaders, {"shaders/add.wgsl": good, "shaders/sub.wgsl": good, "shaders/kernels.json": listing},
            "does not name it")
        self.assert_found(content.check_shaders, {"shaders/kernels.json": listing}, "which is not here")
        self.assert_found(content.check_shaders, {"shaders/add.wgsl": good}, "missing")

    def test_a_script_that_does_not_parse_is_found(self):
        self.assertIn("syntax error", "\n".join(self.messages(content.check_shell, {"tools/a.sh": "#!/bin/bash\nif true\n"})))
        self.assert_clean(content.check_shell, {"tools/a.sh": "#!/bin/bash\necho hello\n"})


if __name__ == "__main__":
    unittest.main()
