package clientcfg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

// readBack returns the value that a configuration assigns to a text in our syntax.
func readBack(t *testing.T, dir, ours string) (string, error) {
	t.Helper()
	o := splice.Object{{Key: "version", Value: 1}, {Key: "mcpServers", Value: splice.Object{{Key: "s", Value: splice.Object{{Key: "command", Value: "c"}, {Key: "args", Value: []string{ours}}}}}}}
	c, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte(o.YAML("\n")), config.Options{Env: lookup(map[string]string{"SET_TOKEN": "value"})})
	if err != nil {
		return "", err
	}
	return c.Servers[0].Args[0], nil
}

// borders contains texts whose pieces could combine, because one ends or begins with $ or {.
var borders = []string{
	"$${file:/etc/hostname}", "$$${file:none}", "$${SET_TOKEN}", "$$", "$", "$$$", "a$", "${", "$${", "${a b}", "$5 and $6", "{$}", "$ {x}", "$$ $${ $$$",
	"${SET_TOKEN}", "$${SET_TOKEN}$", "${SET_TOKEN}{x}", "${SET_TOKEN}$${SET_TOKEN}", "$${env:SET_TOKEN}", "$${userHome}{file:/x}", "${userHome}$", "$${/}{x}",
	"{env:SET_TOKEN}", "${env:SET_TOKEN}", "${env:SET_TOKEN}{env:SET_TOKEN}", "$${file:x}", "$${{ secrets.SET_TOKEN }}", "${{ secrets.SET_TOKEN }}", "$SET_TOKEN$SET_TOKEN", "$$SET_TOKEN",
	"${ SET_TOKEN }", "Bearer ${ SET_TOKEN }", "$${ SET_TOKEN }", "${file:/x}", "${file}", "${SET_TOKEN:-x}", "${SET_TOKEN:-}",
}

// FuzzVariables checks that literal text is read back unchanged, and that text with variables keeps
// the meaning that it has for the client, whatever surrounds it.
func FuzzVariables(f *testing.F) {
	for _, text := range borders {
		f.Add(text, text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, before, after string) {
		if printable(before + after) {
			readsBack(t, dir, before+after)
		}
	})
}

// TestBorders checks that all texts of three pieces keep the meaning that they have for the client.
func TestBorders(t *testing.T) {
	pieces := []string{"$", "{", "}", "${SET_TOKEN}", "$SET_TOKEN", "{env:SET_TOKEN}", "${env:SET_TOKEN}", "${ SET_TOKEN }", "${userHome}", "a"}
	dir := t.TempDir()
	for _, a := range pieces {
		for _, b := range pieces {
			for _, c := range pieces {
				readsBack(t, dir, a+b+c)
			}
		}
	}
}

func readsBack(t *testing.T, dir, text string) {
	t.Helper()
	if got, err := readBack(t, dir, literal(text)); err != nil || got != text {
		t.Fatalf("%q is written as %q, and read as %q, %v", text, literal(text), got, err)
	}
	for _, c := range All() {
		of := c.dialect.variables
		if c.dialect.headers != nil {
			of = c.dialect.headers(map[string]any{"env_keys": []any{"SET_TOKEN"}})
		}
		want, ok := meant(of, system("linux"), text)
		ours, problem := of.expand(system("linux"), text)
		if !ok || problem != "" {
			continue
		}
		if got, err := readBack(t, dir, ours); err != nil || got != want {
			t.Fatalf("%s means %q by %q; it is written as %q, and read as %q, %v", c.Name, want, text, ours, got, err)
		}
	}
}

func printable(text string) bool {
	for _, r := range text {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\ufffd' || r == '\ufeff' {
			return false
		}
	}
	return true
}

// meant returns the client's interpretation of a text, piece by piece. ok is false if the
// interpretation depends on the content of a file or on defaults.
func meant(v *variables, s System, text string) (_ string, ok bool) {
	if v == nil {
		return text, true
	}
	ok = true
	return v.find.ReplaceAllStringFunc(text, func(match string) string {
		p, _, known := v.one(s, match)
		switch {
		case !known:
			return match
		case !p.ours:
			return p.text
		case p.text == "${SET_TOKEN}":
			return "value"
		}
		ok = false
		return ""
	}), ok
}

// TestFileOfOthers checks that ${file:...} is literal text for a client without such variables, and
// that no file is read.
func TestFileOfOthers(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("the-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range All() {
		for _, text := range []string{"${file:" + secret + "}", "$${file:" + secret + "}", "$$${file:" + secret + "}"} {
			ours, problem := c.dialect.variables.expand(system("linux"), text)
			got, err := readBack(t, dir, ours)
			has, want := true, text
			switch c.Name {
			case "windsurf":
				want = strings.ReplaceAll(text, "${file:"+secret+"}", "the-secret")
			case "opencode": // {file:...}, whatever precedes it
				want = strings.ReplaceAll(text, "{file:"+secret+"}", "the-secret")
			default:
				has = false
			}
			if problem != "" || err != nil || got != want {
				t.Errorf("%s: %q is written as %q, and read as %q, %v %s", c.Name, text, ours, got, err, problem)
			}
			if hidden := Secrets(map[string]any{"headers": map[string]any{"X-A": ours}}); has {
				for _, h := range hidden {
					if strings.Contains(h.Value, "file:") {
						t.Errorf("%s: what would be read is not shown: %q", c.Name, h.Value)
					}
				}
			}
		}
	}
}
