package shell_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// The reasons that docs/shell.md admits.
const (
	inFile      = "a program, or a setting, in a file that was there before"
	byVariable  = "a variable says what a program does"
	saysNothing = "its text does not say rm"
)

// passUsual are the scripts that match only under strict reading, each with the reason.
var passUsual = map[string]string{
	"sqlite3 x.db '.read q'":                         inFile,
	"git init -q .; git diff --no-index --ext-d a b": inFile,
	"perl -Mre=x -e0":                                saysNothing,
	"python3 -Wignore::antigravity.x x.py":           saysNothing,
	"node --experimental-default-type=module --entry-url data:text/javascript,1": saysNothing,
	"node --experimental-loader=data:text/javascript,1 x.js":                     saysNothing,
	"node --import=DATA:text/javascript,process.exit x.js":                       saysNothing,
	"PSQLRC=q psql -h /nonexistent":                                              byVariable,
	"ssh -F f h":                                                                 inFile,
	"ssh -o Include=f h":                                                         inFile,
	"ssh-keygen -D ./x.so":                                                       inFile,
	"npm --node-options='--import=data:text/javascript,1' run x":                 saysNothing,
	"cargo --config 'alias.z=[\"run\"]' z":                                       saysNothing,
	"git config core.hooksPath h":                                                inFile,
	"git log --textc":                                                            inFile,
	"git blame --textc f":                                                        inFile,
	"sqlite3 x.db <<E\n.once -e\nselect 1;\nE":                                   byVariable,
	"sqlite3 x.db 'select load_extension(\"x\")'":                                inFile,
	"sqlite3 -ini q x.db":                                                        inFile,
	"gdb -batch -ix c /bin/true":                                                 inFile,
	"sed 's/[/]/x/e' f":                                                          inFile,
	"sed 's,x,&,;s/y/z/w x' f":                                                   "it writes a file",
	"mawk -We x":                                                                 inFile,
	"perl -x f":                                                                  inFile,
	"PYTHONBREAKPOINT=os.system python3 x.py":                                    byVariable,
	"node --run x":                                                               inFile,
	"printf '{\"main\":\"x\"}' > c; node --experimental-sea-config c":            inFile,
	"MANROFFOPT='-U' man ./x.1":                                                  byVariable,
	"ssh -o 'ProxyJump=x' h":                                                     "it goes through another machine",
	"ssh -o PKCS11Provider=./x.so h":                                             inFile,
	"ssh-keygen -t ecdsa-sk -w ./x.so -f k -N ''":                                inFile,
	"WGETRC=w wget http://127.0.0.1:1/":                                          byVariable,
	"perl -V:x":                                                                  "it shows a setting",
	"git apply --unsafe-paths p; bash s.sh":                                      inFile,
	"perl -i x.pl s.sh; bash s.sh":                                               inFile,
	"gcc -x c -o s.out f; ./s.out":                                               inFile,
	"gcc -x c -o x f; bash x":                                                    inFile,
	"gcc -E -P -x c -o s.sh f; bash s.sh":                                        inFile,
}

// passes are the scripts of testdata/evasions.txt that do not match rm, each with the reason.
var passes = map[string]string{
	"tclsh f.tcl <<< 'exec rm victim'":                "with a script in a file, tclsh does not obey its input",
	"git x":                                           "a subcommand that git looks for in the PATH, and does not find",
	"git init -q .; git apply <<< x":                  "the patch is empty",
	"git var GIT_EDITOR":                              "it shows the setting",
	"curl -K /dev/null file:///etc/hostname -o x":     "the configuration is empty",
	"openssl version":                                 "it shows the version",
	"column -t f":                                     "it shows a file",
	"perl x.pl":                                       inFile,
	"python3 .":                                       inFile,
	"yq --version":                                    "it shows the version",
	"psql -v 'x=`rm victim`' -c 'select 1'":           "psql does not run what a variable holds",
	"jq -n 'input_filename'":                          "jq runs nothing",
	"docker run x":                                    "it runs in a container",
	"groff -U f":                                      inFile,
	"git --paginate log":                              "the pager is the one that is configured",
	"gcc @o x.c":                                      inFile,
	"make clean":                                      inFile,
	"go tool -n compile":                              "it shows what it would run",
	"git for-each-ref --shell":                        "--shell only quotes what is shown",
	"psql -v PSQL_EDITOR=rm":                          "a variable of psql, for a command that is not given",
	"psql -P pager=always -c 'select 1'":              "the pager is the one that is configured",
	"strace -E RMX=1 true":                            "a variable that nothing obeys",
	"python3 -m zipapp x":                             "it packs a directory",
	"python3 -m unittest x":                           inFile,
	"python3 -m http.server --help":                   "it shows its help",
	"python3 -m dis":                                  "it disassembles its input",
	"python3 -m venv --help":                          "it shows its help",
	"python3 -m webbrowser 'x'":                       "it opens a browser that is configured",
	"ls *":                                            "ls runs nothing",
	"man -p x ls":                                     "a preprocessor of man is one of a list",
	"ssh-add -s ./x.so":                               inFile,
	"SSH_COPY=1 ssh-copy-id -n h":                     "SSH_COPY is no variable of it",
	"curl -s file:///etc/hostname -o .git/hooks/x":    "it writes a hook, which a later call may run: a program in a file by then",
	"dpkg-query -W":                                   "it shows packages",
	"python3 w.py; bash s.sh":                         inFile,
	"unzip -q z.zip; bash s.sh":                       inFile,
	"echo s.sh | cpio -o > c; cpio -i < c; bash s.sh": inFile,
	"git format-patch -o . HEAD; bash s.sh":           inFile,
	"git init -q .; git checkout -- s.sh; bash s.sh":  inFile,
	"git init -q .; git checkout-index -f --prefix=x/ -a; bash x/s.sh": inFile,
}

// TestEvasions checks that exactly the scripts with a reason pass, under strict reading and by
// default.
func TestEvasions(t *testing.T) {
	text, err := os.ReadFile("testdata/evasions.txt")
	if err != nil {
		t.Fatal(err)
	}
	rm, all, refused, usual, seen := pattern(t, "rm"), 0, 0, 0, make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		name, quoted, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			continue // a comment
		}
		script, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		seen[script] = true
		all++
		reason, listed := passes[script]
		passed := runs(shell.Read(script), rm) == shell.NoMatch
		if why := passUsual[script]; passed != (why != "" || listed) {
			t.Errorf("%s: %q passes as usual: %v (%s)", name, script, passed, why)
		} else if !passed {
			usual++
		}
		switch r := (shell.Options{Strict: true}).Read(script); {
		case runs(r, rm) != shell.NoMatch && listed:
			t.Errorf("%s: %q does not pass any more (%s); take it off the list", name, script, doubt(r))
		case runs(r, rm) != shell.NoMatch:
			refused++
		case reason == "":
			t.Errorf("%s: %q passes", name, script)
		}
	}
	for script := range passUsual {
		if !seen[script] {
			t.Errorf("%q is not in testdata/evasions.txt", script)
		}
	}
	for script := range passes {
		if !seen[script] {
			t.Errorf("%q is not in testdata/evasions.txt", script)
		}
	}
	doc, err := os.ReadFile("../../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range []string{fmt.Sprintf("Of [%d scripts]", all), fmt.Sprintf("%d are refused under `strict`, and %d without", refused, usual)} {
		if !strings.Contains(string(doc), figure) {
			t.Errorf("docs/shell.md does not say %q", figure)
		}
	}
}
