#!/usr/bin/env bash
# Runs the tests on every supported Python that is found, each in an environment of its own, and says which ran.
set -uo pipefail
cd "$(dirname "$0")/.."
tests=${TESTS:-tests/codecs tests/formats tests/analysis tests/inputs tests/storage tests/mr tests/jobs tests/cli}
summary=""
failed=0
for minor in 11 12 13 14 15; do
    python=""
    for candidate in "python3.$minor" "$HOME"/.pyenv/versions/3."$minor".*/bin/python; do
        if version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) && [ "$version" = "3.$minor" ]; then
            python=$candidate
            break
        fi
    done
    if [ -z "$python" ]; then
        summary+="3.$minor  not found"$'\n'
        continue
    fi
    venv=.cache/pythons/3.$minor
    echo "== Python 3.$minor ($python)"
    if ! { [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"; } || ! "$venv/bin/pip" install -q --disable-pip-version-check -e '.[fast,legacy,test]'; then
        summary+="3.$minor  could not be set up"$'\n'
        failed=1
        continue
    fi
    # shellcheck disable=SC2086 - a list of folders
    if "$venv/bin/python" -m pytest -p no:cacheprovider $tests; then
        summary+="3.$minor  passed"$'\n'
    else
        summary+="3.$minor  FAILED"$'\n'
        failed=1
    fi
done
printf '== Pythons\n%s' "$summary"
exit $failed
