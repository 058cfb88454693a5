# Adds up the test counts that the runners print (doctest, ctest, vitest, node, Python's unittest) and prints "PASSED FAILED".
# A program that ctest reports as failed without having printed counts of its own (it crashed or hung) is one failure.
function number_before(word,    found) {
  return match($0, "[0-9]+ " word) ? substr($0, RSTART, RLENGTH) + 0 : 0
}
{ gsub(/\033\[[0-9;]*m/, "") }
/\[doctest\] test cases:/ { passed += number_before("passed"); failed += number_before("failed"); next }
/^ *Tests  / { passed += number_before("passed"); failed += number_before("failed"); next }
/^# pass [0-9]+$/ { passed += $3; next }
/^# fail [0-9]+$/ { failed += $3; next }
/^Ran [0-9]+ tests?/ { ran = $2; next }
/^OK( |$)/ && ran != "" { passed += ran; ran = ""; next }
/^FAILED \(/ && ran != "" {
  bad = 0
  if (match($0, /failures=[0-9]+/)) bad += substr($0, RSTART + 9, RLENGTH - 9)
  if (match($0, /errors=[0-9]+/)) bad += substr($0, RSTART + 7, RLENGTH - 7)
  failed += bad; passed += ran - bad; ran = ""; next
}
/^\[check\] passed: / { ++passed; next }
/^\[check\] (failed|FAILED): / { ++failed; next }
/\*\*\*(Timeout|Not Run|Exception)/ { ++crashed; next }
END { print passed + 0, failed + crashed + 0 }
