package config

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const oneServer = "mcpServers: { a: { command: x } }\n"

func parse(t *testing.T, src string, o Options) *Config {
	t.Helper()
	if o.Env == nil {
		o.Env = from(nil)
	}
	c, err := Parse("petrigate.yaml", []byte(src), o)
	if err != nil {
		t.Fatal(Text(err))
	}
	return c
}

func TestLayers(t *testing.T) {
	file := oneServer + "log: { level: info, format: text }\nlisten: { http: \"127.0.0.1:1\", auth: token }\napproval: { hold: 1s }\n"
	vars := map[string]string{"PETRIGATE_LOG_LEVEL": "warn", "PETRIGATE_APPROVAL_HOLD": "2s", "PETRIGATE_LOG_FORMAT": ""}
	flags := map[string]string{"log.level": "error", "listen.http": "127.0.0.1:2"}
	c := parse(t, file, Options{Env: from(vars), Flags: flags})
	want := Log{Level: "error", Format: "text"}
	if c.Log != want || c.Approval.Hold != 2*time.Second || c.Listen.HTTP != "127.0.0.1:2" || c.Startup != 10*time.Second {
		t.Errorf("got %+v %+v %+v", c.Log, c.Approval, c.Listen)
	}
}

func TestFlags(t *testing.T) {
	c := parse(t, oneServer+"listen: { stdio: true }\n", Options{Flags: map[string]string{"listen.http": "127.0.0.1:1"}})
	if c.Listen.Stdio {
		t.Error("the flag does not win over the file")
	}
	for flag, want := range map[string]string{
		"mode":       "the flag for mode: no such setting",
		"log.level":  `the flag for log.level: unknown value "x" (one of: debug, info, warn, error)`,
		"audit.file": "the flag for audit.file is empty",
	} {
		value := map[bool]string{true: "", false: "x"}[flag == "audit.file"]
		_, err := Parse("f", []byte(oneServer), Options{Env: from(nil), Flags: map[string]string{flag: value}})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", flag, err, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := parse(t, "{}", Options{})
	if !c.Listen.Stdio || c.Listen.Auth != "token" || c.Default != "allow" || c.Approval.Expire != 15*time.Minute || len(c.Approval.Channels) != 3 {
		t.Errorf("got %+v", c)
	}
}

// Only the file can loosen a policy.
func TestEnvironmentCannotLoosen(t *testing.T) {
	vars := map[string]string{"PETRIGATE_DEFAULT": "allow", "PETRIGATE_MODE": "shadow", "PETRIGATE_ACTIVE": ""}
	if c := parse(t, oneServer+"default: deny\n", Options{Env: from(vars)}); c.Default != "deny" {
		t.Errorf("default is %q", c.Default)
	}
}

func TestNoLoopback(t *testing.T) {
	tests := []struct {
		address string
		ok      bool
	}{
		{"127.0.0.1:1", true}, {"[::1]:1", true}, {"localhost:1", true}, {"127.8.8.8:0", true},
		{":1", false}, {"0.0.0.0:1", false}, {"[::]:1", false}, {"example.com:1", false}, {"localhost.example.com:1", false}, {"10.0.0.1:1", false},
	}
	for _, test := range tests {
		_, err := Parse("f", []byte(oneServer), Options{Env: from(nil), Flags: map[string]string{"listen.http": test.address, "listen.auth": "none"}})
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.address, err)
		}
	}
}

func TestLookup(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	xdg := filepath.Join(home, ".config", "petrigate", "petrigate.yaml")
	vars := map[string]string{"HOME": home}
	o := Options{Env: from(vars), WorkDir: true}
	look := func(want string) {
		t.Helper()
		if got, _, err := Lookup(o); got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if _, err := Load(o); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), xdg) {
		t.Errorf("got %v", err)
	}
	put(t, xdg, []byte(oneServer))
	look(xdg)
	put(t, "petrigate.yaml", []byte(oneServer))
	look("petrigate.yaml")
	o.WorkDir = false
	look(xdg)
	vars["XDG_CONFIG_HOME"] = "relative"
	look(xdg)
	vars["XDG_CONFIG_HOME"] = filepath.Join(home, "x")
	look("")
	vars["PETRIGATE_CONFIG"] = "env.yaml"
	look("env.yaml")
	o.Path = "flag.yaml"
	look("flag.yaml")
	if _, err := Load(o); err == nil || err.Error() != "flag.yaml: reading the configuration: no such file or directory" {
		t.Errorf("got %v", err)
	}
	delete(vars, "PETRIGATE_CONFIG")
	delete(vars, "XDG_CONFIG_HOME")
	delete(vars, "HOME")
	o.Path = ""
	look("")
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	put(t, big, []byte(strings.Repeat("#", maxSize+1)))
	for path, want := range map[string]string{dir: "not a regular file", big: "too large"} {
		if _, err := Load(Options{Path: path, Env: from(nil)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAnybodyMayChange(t *testing.T) {
	dir := t.TempDir()
	path, rules := filepath.Join(dir, "petrigate.yaml"), filepath.Join(dir, "a.rules")
	put(t, path, []byte(oneServer+"rules: [{ file: a.rules }]\n"))
	put(t, rules, []byte("block rm\n"))
	for _, p := range []string{path, rules} {
		if err := os.Chmod(p, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Options{Path: path, Env: from(nil)})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) != 2 || !strings.Contains(c.Warnings.Error(), "any user can change") {
		t.Errorf("got %v", c.Warnings)
	}
}

func TestRelativePaths(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "petrigate.yaml")
	put(t, path, []byte("mcpServers:\n  a: { command: ./x, cwd: w }\n  b: { command: npx }\naudit: { file: a.jsonl }\nlisten: { http: \"127.0.0.1:1\", tokenFile: /t }\n"))
	c, err := Load(Options{Path: path, Env: from(nil)})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{c.Servers[0].Command, c.Servers[0].Cwd, c.Servers[1].Command, c.Audit.File, c.Listen.TokenFile}
	want := []string{filepath.Join(dir, "x"), filepath.Join(dir, "w"), "npx", filepath.Join(dir, "a.jsonl"), "/t"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A directory name that looks like a pattern is taken literally.
func TestPatternInDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*?")
	for _, name := range []string{"B.rules", "a.rules", "[x].rules"} {
		put(t, filepath.Join(dir, "rules", name), []byte("block "+name))
	}
	src := oneServer + "rules:\n  - file: rules/?.rules\n  - file: \"rules/[x].rules\"\n"
	c, err := Parse(filepath.Join(dir, "petrigate.yaml"), []byte(src), Options{Env: from(nil)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Rules {
		got = append(got, r.Text)
	}
	if diff := cmp.Diff([]string{"block B.rules", "block a.rules", "block [x].rules"}, got); diff != "" {
		t.Error(diff)
	}
}

// A mistake in inline rules is reported at its position.
func TestInlinePosition(t *testing.T) {
	tests := []struct {
		name, src    string
		line, column int // position within the rules
		want         string
	}{
		{"block", "rules:\n  - inline: |\n      block rm\n      block é\n", 2, 7, "f:4:13"},
		{"block after a blank line", "rules:\n  - inline: |\n\n      block rm\n", 2, 1, "f:4:7"},
		{"block with an indentation", "rules:\n  - inline: |2\n        x\n      block\n", 2, 1, "f:4:7"},
		{"folded", "rules:\n  - inline: |-\n      block rm", 1, 7, "f:3:13"},
		{"whole", "rules: |\n  block rm\n", 1, 1, "f:2:3"},
		{"quoted", "rules: \"block rm\"\n", 1, 7, "f:1:15"},
		{"plain", "rules: block rm\n", 1, 7, "f:1:14"},
		{"quoted lines", "rules: \"a\\nb\"\n", 2, 1, "f:1:9"},
		{"JSON", `{"rules": [{"inline": "block rm"}]}`, 1, 7, "f:1:30"},
		{"line ends of Windows", "rules:\r\n  - inline: |\r\n      block rm\r\n      block x\r\n", 2, 7, "f:4:13"},
		{"no line", "rules: x\n", 0, 0, "f"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Parse("f", []byte(test.src), Options{Env: from(nil)})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Rules[0].Position(test.line, test.column).String(); got != test.want {
				t.Errorf("got %s, want %s in\n%s", got, test.want, test.src)
			}
		})
	}
}

func TestReadRulesAndNets(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "b.rules", []byte("block b"))
	put(t, "a.rules", []byte("block a"))
	put(t, "n.yaml", []byte("nets:\n  - name: x\n  - name: y\n"))
	put(t, "bad.yaml", []byte("nam: x\n"))
	rules, err := ReadRules("*.rules")
	if err != nil || len(rules) != 2 || rules[0].Position(1, 2).String() != "a.rules:1:2" {
		t.Errorf("got %v, %v", rules, err)
	}
	nets, err := ReadNets("n.yaml")
	if err != nil || len(nets) != 2 || nets[1].Position.String() != "n.yaml:3:5" {
		t.Errorf("got %v, %v", nets, err)
	}
	if _, err := ReadRules("no"); err == nil || err.Error() != `no file matches "no"` {
		t.Errorf("got %v", err)
	}
	if _, err := ReadNets("no*"); err == nil {
		t.Error("no error")
	}
	var list ErrorList
	if _, err := ReadNets("bad.yaml"); !errors.As(err, &list) || len(list) != 2 {
		t.Errorf("got %v", err)
	}
}

// No error, excerpt or log line reveals a secret, whatever the mistake is.
func TestSecretsStayInside(t *testing.T) {
	const secret = "canary"
	dir := t.TempDir()
	put(t, filepath.Join(dir, "token"), []byte(secret+"\n"))
	vars := map[string]string{"SECRET": secret}
	for _, expr := range []string{"${SECRET}", "${env:SECRET}", "x ${SECRET} y", "${file:token}", "${NONE:-" + secret + "}"} {
		for _, key := range []string{"command", "cwd", "url", "prefix", "type", "protocol", "timeout", "disabled", "args", "env", "headers"} {
			src := fmt.Sprintf("mcpServers:\n  a:\n    command: y\n    %s: %q\nlisten:\n  http: %q\n  auth: %q\nlog:\n  level: %q\n", key, expr, expr, expr, expr)
			_, err := Parse(filepath.Join(dir, "f"), []byte(src), Options{Env: from(vars)})
			if err == nil {
				t.Fatalf("%s was accepted", src)
			}
			if !strings.Contains(expr, secret) && strings.Contains(Text(err), secret) {
				t.Errorf("the secret is in\n%s", Text(err))
			}
		}
	}
	c := parse(t, "mcpServers: { a: { command: x, args: [\"${SECRET}\"], env: { T: \"${SECRET}\" } } }\n", Options{Env: from(vars)})
	if c.Servers[0].Args[0] != secret || c.Servers[0].Env["T"] != secret {
		t.Fatalf("the secret was not replaced")
	}
	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "server", c.Servers[0])
	fmt.Fprintf(&b, "%v %+v %#v %s %v", c, c, c.Servers, c.Servers[0], c.Servers[0].EnvNames())
	if strings.Contains(b.String(), secret) {
		t.Errorf("the secret is in %s", b.String())
	}
}

func TestErrors(t *testing.T) {
	_, err := Parse("f", []byte("rulse: 1\nmodee: 2\n"), Options{Env: from(nil)})
	var list ErrorList
	var one Error
	if !errors.As(err, &list) || len(list) != 2 || !errors.As(err, &one) || one.Position().String() != "f:1:1" {
		t.Errorf("got %#v", err)
	}
	if got := Text(errors.New("x")); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := Text(Error{File: "f", Msg: "m", Hint: "h"}); got != "f: m (h)" {
		t.Errorf("got %q", got)
	}
	if got := (Position{Line: 1, Column: 2}).String(); got != "1:2" {
		t.Errorf("got %q", got)
	}
	if got := list.Error(); got != list[0].Error()+"\n"+list[1].Error() {
		t.Errorf("got %q", got)
	}
}

// Input that would exhaust a parser is rejected before parsing.
func TestBombs(t *testing.T) {
	deep := 20_000
	tests := map[string]string{
		"brackets":       strings.Repeat("[", deep),
		"braces":         strings.Repeat("{a: ", deep),
		"JSON":           strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"JSON objects":   strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"entries":        strings.Repeat("- ", deep) + "x",
		"explicit keys":  strings.Repeat("? ", deep) + "x",
		"anchors":        strings.Repeat("&a ", deep) + "x",
		"tags":           strings.Repeat("!a ", deep) + "x",
		"many values":    "a: [" + strings.Repeat("1,", maxNodes+1) + "1]",
		"many in JSON":   "[" + strings.Repeat("1,", maxNodes+1) + "1]",
		"block mappings": nestedBlocks(300),
		"many keys":      manyKeys(),
		"much YAML":      strings.Repeat("#", maxYAML+1),
		"NUL":            "a: \x00",
		"no UTF-8":       "a: \xff",
		"UTF-16":         "\xff\xfea\x00:\x00",
		"bell":           "a: \"\a\"",
		"separator":      "a: \u2028b",
		"too large":      strings.Repeat("#", maxSize+1),
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse("f", []byte(src), Options{Env: from(nil)}); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := range maxKeys + 1 {
		fmt.Fprintf(&b, "k%d: v\n", i)
	}
	return b.String()
}

func TestManyProblems(t *testing.T) {
	_, err := Parse("f", []byte("a: 1\n"+strings.Repeat("a: 2\n", 1000)), Options{Env: from(nil)})
	var list ErrorList
	if !errors.As(err, &list) || len(list) != maxErrors+1 {
		t.Errorf("%d problems, want %d", len(list), maxErrors+1)
	}
}

func nestedBlocks(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestByteOrderMark(t *testing.T) {
	parse(t, "\ufeff"+oneServer, Options{})
	parse(t, "\ufeff"+`{"mcpServers": {}}`, Options{})
}

// JSON is read correctly in those cases where YAML readers are wrong.
func TestJSONStrings(t *testing.T) {
	want := "a\u2028b\u2029\u0085\t\"\\/😀"
	quoted, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(quoted), `"a` + "\u2028" + `b\u2029\u0085\t\"\\\/\ud83d\ude00"`} {
		nets, err := ParseNet("f", []byte(`{"name": `+text+`}`))
		if err != nil || nets[0].Name != want {
			t.Errorf("got %+v, %v", nets, err)
		}
	}
}

// Both readers report the same problems at the same positions.
func TestJSONPositions(t *testing.T) {
	const src = "{ \"name\" : \"é\",\n  \"plces\": [ ], \"match\":\n \"é\", \"transitions\":[{\"name\":\"t\",\"inputs\":[\"é\" , 5]}, 1 ]\n}"
	if _, err := ParseNet("f", []byte(src)); err == nil {
		t.Error("it was accepted")
	} else if _, other := ParseNet("f", []byte(strings.Replace(src, "}\n", "} # not JSON\n", 1)+"# not JSON\n")); other == nil || err.Error() != other.Error() {
		t.Errorf("JSON:\n%v\nYAML:\n%v", err, other)
	}
}

// TestServersAlone reads the servers in files that [Load] rejects.
func TestServersAlone(t *testing.T) {
	tests := []struct{ src, want string }{
		{"mcpServers:\n  a: { command: x, env: { V: '${V}' } }\n  b: { url: 'https://b.example' }\n", "a: f:2:31: the variable V is not set (set it, or write ${V:-default})\nb: \n"},
		{"mcpServers:\n  '': { command: x }\n", ": f:2:3: the name of a server is empty or contains a control character\n"},
		{"mcpServers: { a: { command: x, cwd: '${B}', args: ['${A}'] } }", "a: f:1:38: the variable B is not set (set it, or write ${B:-default})\nf:1:53: the variable A is not set (set it, or write ${A:-default})\n"},
		{"mcpServers: { a: 1 }\n", "a: f:1:18: a server must be a mapping, not a number\n"},
		{"audit: { file: '${V}' }\nnets: 1\nrules: x\nlog: { level: loud }\n", ""},
		{"mcpServers: []\n", "f:1:13: \"mcpServers\" must be a mapping, not a list"},
		{"mcpServer: {}\n", "f:1:1: unknown key \"mcpServer\" in the configuration (did you mean \"mcpServers\"?)"},
		{"upstreams: {}\n", "f:1:1: unknown key \"upstreams\" in the configuration (did you mean \"mcpServers\"?)"},
		{"", "f:1:1: the configuration is empty (write at least mcpServers)"},
	}
	t.Chdir(t.TempDir())
	for _, test := range tests {
		put(t, "f", []byte(test.src))
		file, servers, err := Servers(Options{Path: "f", Env: from(nil)})
		var b strings.Builder
		for _, s := range servers {
			fmt.Fprintf(&b, "%s: %v\n", s.Name, s.Problems)
		}
		if err != nil {
			b.WriteString(err.Error())
		} else if file != "f" {
			t.Errorf("%q: the file is %q", test.src, file)
		}
		if b.String() != test.want {
			t.Errorf("%q: got %q, want %q", test.src, b.String(), test.want)
		}
	}
	if _, _, err := Servers(Options{Path: "none"}); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestConfigHasChecksumsOfFiles checks that a configuration contains the checksums of its files.
func TestConfigHasChecksumsOfFiles(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"petrigate.yaml": oneServer + "rules: [{ file: a.rules }]\nnets: [{ file: b.net.yaml }]\n",
		"a.rules":        "block x\n",
		"b.net.yaml":     "name: b\nplaces: [p]\ninitialMarking: { p: 1 }\ntransitions: [{ name: t, inputs: [p], outputs: [p], tools: [y] }]\n",
	}
	want := map[string]string{}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		want[path] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	c, err := Load(Options{Path: filepath.Join(dir, "petrigate.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Sums); diff != "" {
		t.Error(diff)
	}
}
