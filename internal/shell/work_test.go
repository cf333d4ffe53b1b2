package shell_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/shell"
)

// twenty has the commands of a policy with many maps.
var twenty = strings.Fields("rm git docker kubectl mv cp curl wget dd chmod chown npm make go python ssh scp rsync tar ls")

func twentyMaps(t testing.TB) *shell.Reader {
	r := shell.Options{}.NewReader()
	for _, name := range twenty {
		if _, err := r.Command([]string{name}, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range []string{"ls -a", "ls -b", "ls -c", "ls -d", "ls -e"} {
		if _, err := r.Command(strings.Fields(words), false); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// heavy are units that make up scripts which take long to read.
var heavy = map[string]string{
	"unknown programs":   "zz 'a\"b' \\c;",
	"commands":           "ls a;",
	"short commands":     "a;",
	"lines":              "a\n",
	"options":            "ls -abcde;",
	"words":              "ls -a -b ",
	"backquotes":         "`a`;",
	"quoted expansions":  "\"$a$b\" ",
	"expansions":         "$a$b;",
	"here documents":     "cat <<E\nfoo bar\nE\n",
	"wrappers":           "sudo -u a env ",
	"redirections":       "<a ",
	"assignments":        "a=b ",
	"quotes":             "''\"\"",
	"groups":             "{ a;};",
	"containers":         "docker exec ",
	"git":                "git push -f x y;",
	"programs of a list": "tar -x -f a;",
	"braces":             "{a,b,c,d,e,f,g,h} ",
	"deep":               "(",
	"text":               "cat <<'E'\n'lo\"rem' $i (psum) dolor\nE\n",
	"spaces":             " ",
	"scripts":            "sh -c a;",
	"loops":              "for i in a;do a;done;",
	"comments":           "#\n",
	"find":               "find -exec a \\;;",
	"long words":         strings.Repeat("a", 1000) + " ",
	"arithmetic":         "((a));",
	"tests":              "[[ a ]];",
	"functions":          "a(){ \"$@\";};a a a;",
	"aliases":            "alias a=b;a x;",
	"arrays":             "a=(b c d e);a+=(f);x=(\"${a[@]}\" \"${a[@]}\");\"${x[@]}\";",
	"values":             "a='b c d e f';$a $a $a;",
}

// asks asks everything a policy asks about one field, for each map.
func asks(r *shell.Reader, script string) {
	reading := r.Read(nil, script)
	for i := range len(twenty) + 5 {
		if reading.Finds(i) == gate.Surely {
			reading.Only([]int{i})
			reading.Evidence(i)
		}
	}
}

// TestWorkIsBounded checks the work for one call, with 1 MiB or the most expensive readable script,
// for any number of maps.
func TestWorkIsBounded(t *testing.T) {
	r := twentyMaps(t)
	for name, unit := range heavy {
		for _, bytes := range []int{1 << 20, shell.Fitting(unit)} {
			script := strings.Repeat(unit, bytes/len(unit))
			if pieces, arguments, looks := shell.Work(r, script); pieces > shell.MaxWork || arguments > shell.MaxKept || looks > shell.MaxLooks {
				t.Errorf("%s, %d bytes: %d pieces were parsed, %d arguments read and %d looked at", name, bytes, pieces, arguments, looks)
			}
		}
	}
}

func BenchmarkTwentyMaps(b *testing.B) {
	for name, unit := range heavy {
		for size, bytes := range map[string]int{"1MB": 1 << 20, "bound": shell.Fitting(unit)} {
			script := strings.Repeat(unit, bytes/len(unit))
			b.Run(name+"/"+size, func(b *testing.B) {
				r := twentyMaps(b)
				for b.Loop() {
					asks(r, script)
				}
			})
		}
	}
}
