package proxy_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
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

// command returns the arguments of a call of bash. It returns false if no message can
// contain them.
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
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "map bash.command runs rm as delete\nrequire backup before delete\n"})
		c := s.Connect(l, "")
		refused, executed := 0, 0
		for _, row := range scripts(t, "rm.txt") {
			args, ok := command(row[1])
			if !ok {
				continue
			}
			r := c.Do("bash", args)
			free := row[0] == "no match" || row[0] == "strict" // scripts that are opaque only in strict reading
			if want := !free; r.IsError() != want || want && r.Decision("kind") != "blocked" {
				t.Errorf("%s: %q: %s", row[0], row[1], proxytest.Clip(r.Raw))
			}
			if free {
				executed++
			} else {
				refused++
			}
		}
		c.Close()
		s.Executed("bash", executed)
		if n := len(s.Records.Decisions("refuse")); n != refused || refused < 300 {
			t.Errorf("%d refusals on record, want %d", n, refused)
		}
	})
}

// TestScriptsAsEvidence: A084. Only a script that certainly made the copy, and succeeded, counts as
// the backup that a rule requires.
func TestScriptsAsEvidence(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "map bash.command runs cp as backup\nrequire backup before delete\n"})
		c := s.Connect(l, "")
		deleted := 0
		for _, row := range scripts(t, "evidence.txt") {
			args, ok := command(row[1])
			if !ok {
				continue
			}
			c.Do("bash", strings.TrimSuffix(args, "}")+`,"fail":true}`) // a failed backup does not count
			if r := c.Do("delete", `{}`); !r.IsError() {
				t.Errorf("%q failed, and delete was let pass", row[1])
			}
			c.Must("bash", args)
			if r := c.Do("delete", `{}`); r.IsError() != (row[0] == "no") {
				t.Errorf("%q is %s backup: %s", row[1], row[0], proxytest.Clip(r.Raw))
			}
			if row[0] == "yes" {
				deleted++
			}
		}
		s.Executed("delete", deleted)
	})
}

// TestScriptsInOtherTypes: A054. A script that is not a string is opaque in every form, and never
// evidence.
func TestScriptsInOtherTypes(t *testing.T) {
	proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
		s := proxytest.Start(t, proxytest.Setup{Rules: "map bash.command runs rm as delete\nmap bash.command runs cp as backup\nrequire backup before delete\nblock danger\n"})
		c := s.Connect(l, "")
		c.Must("safe", `{}`)
		for _, args := range []string{
			`{"command":["rm","-rf","x"]}`, `{"command":["ls","rm x"]}`, `{"command":{"cmd":"rm x"}}`, `{"command":[["rm"],["x"]]}`,
			`{"command":{"argv":["sh","-c","rm x"]}}`, `{"command":["sh","-c",{"a":"rm x"}]}`, `{"command":["$X"]}`, `{"command":"rm x","Command":"ls"}`,
		} {
			c.Refuses("bash", args, "blocked")
		}
		for _, args := range []string{`{"command":["cp","a","b"]}`, `{"command":{"cmd":"cp a b"}}`, `{"command":[["cp a b"]]}`} {
			c.Must("bash", args)
			c.Refuses("delete", `{}`, "blocked")
		}
		c.Must("bash", `{"command":"cp a b"}`)
		c.Must("delete", `{}`)
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
			proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
				s := proxytest.Start(t, proxytest.Setup{Rules: text + "map bash.command runs rm as erase\nlimit erase to 1 per session\n", Change: func(o *proxy.Options) { o.Upstreams[0].Prefix = &prefix }})
				c := s.Connect(l, "")
				c.Must("srv_safe", `{}`)
				c.Refuses("srv_bash", `{"command":"ls","action":"reboot"}`, "blocked")
				c.Must("srv_bash", `{"command":"rm a"}`)
				c.Refuses("srv_bash", `{"command":"ls; rm b"}`, "blocked")
				c.Must("srv_bash", `{"command":"ls"}`)
				c.Refuses("srv_bash", `{"command":"ls"}`, "blocked")
				s.Executed("bash", 2)
			})
		})
	}
}
