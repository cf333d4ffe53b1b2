//go:build unix

package shell_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/shell"
)

// shims are the only programs on the PATH of generated scripts. Each reads its options like the
// program whose name it bears, using only builtins of bash, and records on descriptor 3 that it
// ran.
var shims = map[string]string{
	"rm": "", "ls": "", "cp": "", "x": "",
	"cat":  `while IFS= read -r l || [[ -n $l ]]; do printf '%s\n' "$l"; done`,
	"bash": `exec "$BASH_FILE" --norc --noprofile "$@"`,
	"sh":   `exec "$BASH_FILE" --norc --noprofile "$@"`,
	"dash": `exec "$BASH_FILE" --norc --noprofile "$@"`,
	"env": `while :; do case $1 in -i|--unset=*|--) shift;; -u) shift 2;; -S) shift; set -- $*;; *=*) export "$1"; shift;; *) break;; esac; done
PATH=$SHIMS exec "$@"`,
	"sudo":    `while :; do case $1 in -u) shift 2;; -*) shift;; *=*) export "$1"; shift;; *) break;; esac; done; exec "$@"`,
	"nice":    `while :; do case $1 in -n) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"`,
	"timeout": `while :; do case $1 in -k|-s) shift 2;; -*) shift;; *) break;; esac; done; shift; exec "$@"`,
	"nohup":   `exec "$@"`, "setsid": `[[ $1 == -* ]] && shift; exec "$@"`, "busybox": `exec "$@"`,
	"chroot": `shift; exec "$@"`, "flock": `shift; exec "$@"`,
	"time":   `while :; do case $1 in -f) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"`,
	"stdbuf": `while :; do case $1 in -o|-e|-i) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"`,
	"ssh":    `[[ $1 == -l ]] && shift 2; shift; exec "$BASH_FILE" --norc --noprofile -c "$*"`,
	"watch":  `[[ $1 == -n ]] && shift 2; exec "$BASH_FILE" --norc --noprofile -c "$*"`,
	"xargs": `m=; while :; do case $1 in -n) shift 2;; -I*) m=${1#-I}; shift;; -*) shift;; *) break;; esac; done
(($#)) || exit 0
l=; IFS= read -r -d '' l; l=${l%$'\n'}
if [[ -n $m ]]; then exec "${@//"$m"/$l}"; fi
exec "$@" $l`,
	"find": `c=(); on=; for a; do
if [[ -n $on ]]; then if [[ $a == ';' || $a == + ]]; then "${c[@]}"; on=; c=(); else c+=("${a//'{}'/y}"); fi
elif [[ $a == -exec || $a == -execdir ]]; then on=1; fi; done`,
	"git": `[[ $1 == bisect && $2 == run ]] && { shift 2; exec "$@"; }`,
}

// driver runs all scripts in a directory. Every tenth script gets a new bash; the others run in a
// fork of the driver, which is faster.
const driver = `ulimit -t 2 -f 2000 -c 0 -n 128
DIR=$1
set --
for FILE in "$DIR"/*.sh; do
  IFS= read -r -d '' SCRIPT <"$FILE"
  case $FILE in
  *0.sh) "$BASH_FILE" --norc --noprofile -c "$SCRIPT" 3>"${FILE%.sh}.ran" </dev/null >/dev/null 2>&1;;
  *) (eval "$SCRIPT") 3>"${FILE%.sh}.ran" </dev/null >/dev/null 2>&1;;
  esac
  echo $? > "${FILE%.sh}.status"
done`

// scriptsWanted is the number of scripts that the differential test runs.
func scriptsWanted(t *testing.T) int {
	if s := os.Getenv("PETRIGATE_SHELL_SCRIPTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("PETRIGATE_SHELL_SCRIPTS: %v", err)
		}
		return n
	}
	return 100
}

// TestAgainstBash runs generated scripts in a bash that finds no programs but shims. A script that
// bash runs rm in must never be read as no match; a script that is certainly only ls and cat must
// run nothing else; and a script that is evidence of rm must run rm and nothing else.
func TestAgainstBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here to compare with")
	}
	n := scriptsWanted(t)
	first := uint64(1)
	if s := os.Getenv("PETRIGATE_SHELL_SEED"); s != "" {
		if first, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	world := newWorld(t, bash)
	var count tally
	for done := 0; done < n; done += 100 {
		size := min(100, n-done)
		world.run(t, first+uint64(done), size, &count)
	}
	t.Logf("%d scripts: bash ran rm in %d; of these %d match, %d are opaque and %d pass with a doubt. It did not in %d; of these %d match, %d are opaque, %d are no match. %d were only ls and cat, %d evidence. Misses: %d",
		n, count.ran, count.ranMatch, count.ran-count.ranMatch-count.passed, count.passed, n-count.ran, count.idleMatch, count.idleOpaque, n-count.ran-count.idleMatch-count.idleOpaque, count.only, count.evidence, count.missed)
	if n >= 100 && count.ran < n/5 {
		t.Errorf("bash ran rm in %d of %d scripts: the generator is blunt", count.ran, n)
	}
}

// A tally counts the outcomes of the scripts.
type tally struct{ ran, ranMatch, idleMatch, idleOpaque, only, evidence, missed, passed int }

// A world is the environment of the scripts.
type world struct{ dir, bash string }

// newWorld creates the directory with the shims.
func newWorld(t *testing.T, bash string) *world {
	w := &world{dir: t.TempDir(), bash: bash}
	bin := filepath.Join(w.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, body := range shims {
		text := fmt.Sprintf("#!%s --norc\necho %s >&3\nSHIMS=%s BASH_FILE=%s\nPATH=$SHIMS\nexport PATH\n%s\n:\n", bash, name, bin, bash, body)
		if body == "" {
			text = fmt.Sprintf("#!/bin/sh\necho %s >&3\n[ %s != rm ] || [ ! -e %s ]\n", name, name, filepath.Join(w.dir, "failing")) // it starts faster
		}
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// run runs the scripts of some seeds and compares the results. Scripts whose success is evidence of
// rm are run again with an rm that fails.
func (w *world) run(t *testing.T, first uint64, n int, count *tally) {
	var again []uint64
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	w.each(t, seeds, func(seed uint64, ran []string, status string) {
		if compare(t, seed, ran, status, count) {
			again = append(again, seed)
		}
	})
	if len(again) == 0 {
		return
	}
	failing := filepath.Join(w.dir, "failing")
	if err := os.WriteFile(failing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.each(t, again, func(seed uint64, ran []string, status string) {
		if status == "0" {
			t.Errorf("seed %d: it succeeds though rm failed (it ran %q), and the reading is evidence of rm:\n%s", seed, ran, generate(seed))
		}
	})
	os.Remove(failing)
}

// each runs the script of each seed and passes its commands and its status to look.
func (w *world) each(t *testing.T, seeds []uint64, look func(seed uint64, ran []string, status string)) {
	dir := filepath.Join(w.dir, fmt.Sprint("batch", seeds[0]))
	work := filepath.Join(dir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rm", "f"} { // for globs and redirections
		os.WriteFile(filepath.Join(work, name), nil, 0o600)
	}
	for i, seed := range seeds {
		file := filepath.Join(dir, fmt.Sprintf("%04d.sh", i))
		if err := os.WriteFile(file, []byte(generate(seed)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.drive(t, dir, work)
	for i, seed := range seeds {
		ran, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%04d.ran", i)))
		status, missing := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%04d.status", i)))
		if err != nil || missing != nil {
			t.Errorf("seed %d was not run: %v, %v", seed, err, missing)
			break
		}
		look(seed, strings.Fields(string(ran)), strings.TrimSpace(string(status)))
	}
	os.RemoveAll(dir)
}

// drive starts the driver and waits until its last descendant has exited, which closes the pipe
// that all of them inherit.
func (w *world) drive(t *testing.T, dir, work string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	r, alive, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.CommandContext(ctx, w.bash, "--norc", "--noprofile", "-c", driver, "driver", dir)
	cmd.Dir = work
	cmd.Env = []string{"PATH=" + filepath.Join(w.dir, "bin"), "BASH_FILE=" + w.bash, "HOME=" + work, "FUNCNEST=6"}
	cmd.ExtraFiles = []*os.File{alive, alive} // descriptor 3 becomes the record of each script
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	alive.Close()
	err = cmd.Wait()
	r.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, rest := io.Copy(io.Discard, r); rest != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // coprocesses that wait for the other end of a pipe
	}
	if ctx.Err() != nil {
		t.Errorf("%s: the scripts did not end: %v", dir, err)
	}
}

// compare checks a reading against what bash ran, and reports whether the script is evidence of rm.
func compare(t *testing.T, seed uint64, ran []string, status string, count *tally) bool {
	script := generate(seed)
	rm, ls, cat := pattern(t, "rm"), pattern(t, "ls"), pattern(t, "cat")
	r, strict := shell.Read(script), shell.Options{Strict: true}.Read(script)
	got, did := runs(r, rm), slices.Contains(ran, "rm")
	switch {
	case did:
		count.ran++
		if got == shell.Match {
			count.ranMatch++
		}
	case got == shell.Match:
		count.idleMatch++
	case got == shell.Opaque:
		count.idleOpaque++
	}
	if did && runs(strict, rm) == shell.NoMatch {
		count.missed++
		t.Errorf("seed %d: bash runs rm, and the strict reading is no match:\n%s", seed, script)
	}
	if did && got == shell.NoMatch {
		count.passed++
		if _, why := r.Doubt(); !why {
			t.Errorf("seed %d: bash runs rm, and the reading is no match and has no doubt:\n%s", seed, script)
		}
	}
	if onlyCheck(r, ls, cat) {
		count.only++
		for _, name := range ran {
			if !harmless[name] {
				t.Errorf("seed %d: bash runs %s, and the reading is only ls and cat:\n%s", seed, name, script)
			}
		}
	}
	evidence := surely(r, rm)
	if evidence {
		count.evidence++
		if status == "0" && !did {
			t.Errorf("seed %d: bash runs %q and succeeds, and the reading is evidence of rm:\n%s", seed, ran, script)
		}
	}
	return evidence
}

// harmless are the shims that a script of only ls and cat may run: these two, and wrappers.
var harmless = map[string]bool{"ls": true, "cat": true, "bash": true, "sh": true, "dash": true, "env": true, "nice": true, "timeout": true, "nohup": true, "time": true, "stdbuf": true}
