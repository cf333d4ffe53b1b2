package proxy_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/proxy"
)

// scripts are the rows of a table of the shell reader with its findings about each script.
func scripts(t *testing.T, name string) (list [][2]string) {
	t.Helper()
	f, err := os.Open("../internal/shell/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		script := line[10:]
		if text, err := strconv.Unquote(script); err == nil && strings.HasPrefix(script, `"`) {
			script = text
		}
		list = append(list, [2]string{strings.TrimSpace(line[:10]), script})
	}
	return list
}

// command returns the arguments of a call of bash; false: no message can contain them.
func command(script string) (string, bool) {
	if strings.ContainsAny(script, "\x00") || strings.ToValidUTF8(script, "") != script {
		return "", false
	}
	return `{"command":` + jsonString(script) + `}`, true
}

// jsonString writes unprintable characters as escapes, as clients might.
func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TestScripts: A070 to A083. A script that runs rm, or might run it, is not executed without a
// backup, and other scripts are.
func TestScripts(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "map bash.command runs rm as delete\nrequire backup before delete\n"})
		c := s.connect(l, "")
		refused, executed := 0, 0
		for _, row := range scripts(t, "rm.txt") {
			args, ok := command(row[1])
			if !ok {
				continue
			}
			r := c.do("bash", args)
			free := row[0] == "no match" || row[0] == "strict" // scripts that are opaque only in strict reading
			if want := !free; r.isError() != want || want && r.decision("kind") != "blocked" {
				t.Errorf("%s: %q: %s", row[0], row[1], clipped(r.raw))
			}
			if free {
				executed++
			} else {
				refused++
			}
		}
		c.close()
		s.executed("bash", executed)
		if n := len(s.records.decisions("refuse")); n != refused || refused < 300 {
			t.Errorf("%d refusals on record, want %d", n, refused)
		}
	})
}

// TestScriptsAsEvidence: A084. Only a script that certainly made the copy, and succeeded, counts as
// the backup that a rule requires.
func TestScriptsAsEvidence(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "map bash.command runs cp as backup\nrequire backup before delete\n"})
		c := s.connect(l, "")
		deleted := 0
		for _, row := range scripts(t, "evidence.txt") {
			args, ok := command(row[1])
			if !ok {
				continue
			}
			c.do("bash", strings.TrimSuffix(args, "}")+`,"fail":true}`) // a failed backup does not count
			if r := c.do("delete", `{}`); !r.isError() {
				t.Errorf("%q failed, and delete was let pass", row[1])
			}
			c.must("bash", args)
			if r := c.do("delete", `{}`); r.isError() != (row[0] == "no") {
				t.Errorf("%q is %s backup: %s", row[1], row[0], clipped(r.raw))
			}
			if row[0] == "yes" {
				deleted++
			}
		}
		s.executed("delete", deleted)
	})
}

// TestScriptsInOtherTypes: A054. A script that is not a string is opaque in every form, and never
// evidence.
func TestScriptsInOtherTypes(t *testing.T) {
	eachLeg(t, func(t *testing.T, l leg) {
		s := start(t, setup{rules: "map bash.command runs rm as delete\nmap bash.command runs cp as backup\nrequire backup before delete\nblock danger\n"})
		c := s.connect(l, "")
		c.must("safe", `{}`)
		for _, args := range []string{
			`{"command":["rm","-rf","x"]}`, `{"command":["ls","rm x"]}`, `{"command":{"cmd":"rm x"}}`, `{"command":[["rm"],["x"]]}`,
			`{"command":{"argv":["sh","-c","rm x"]}}`, `{"command":["sh","-c",{"a":"rm x"}]}`, `{"command":["$X"]}`, `{"command":"rm x","Command":"ls"}`,
		} {
			c.refuses("bash", args, "blocked")
		}
		for _, args := range []string{`{"command":["cp","a","b"]}`, `{"command":{"cmd":"cp a b"}}`, `{"command":[["cp a b"]]}`} {
			c.must("bash", args)
			c.refuses("delete", `{}`, "blocked")
		}
		c.must("bash", `{"command":"cp a b"}`)
		c.must("delete", `{}`)
	})
}

// TestThreeNames: A040, A041. The tool, its action and the commands of its script are limited
// separately, under every name of the tool.
func TestThreeNames(t *testing.T) {
	rules := map[string]string{
		"bare":      "limit bash to 2 per session\nblock bash.reboot\n",
		"canonical": "limit up.bash to 2 per session\nblock up.bash.reboot\n",
		"exposed":   "limit srv_bash to 2 per session\nblock srv_bash.reboot\n",
	}
	prefix := "srv"
	for name, text := range rules {
		t.Run(name, func(t *testing.T) {
			eachLeg(t, func(t *testing.T, l leg) {
				s := start(t, setup{rules: text + "map bash.command runs rm as erase\nlimit erase to 1 per session\n", change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix }})
				c := s.connect(l, "")
				c.must("srv_safe", `{}`)
				c.refuses("srv_bash", `{"command":"ls","action":"reboot"}`, "blocked")
				c.must("srv_bash", `{"command":"rm a"}`)
				c.refuses("srv_bash", `{"command":"ls; rm b"}`, "blocked")
				c.must("srv_bash", `{"command":"ls"}`)
				c.refuses("srv_bash", `{"command":"ls"}`, "blocked")
				s.executed("bash", 2)
			})
		})
	}
}
