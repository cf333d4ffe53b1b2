package policydiff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/policy"
)

const baseRules = `base: { name: acme, version: 1 }
%s
rules:
  - inline: |
      map bash.command runs ls as safe
      require test before push
      block bash unless safe
      limit mail to 3 per session
      require human-approval before deploy
nets:
  - name: gate
    places: [p]
    initialMarking: { p: 1 }
    transitions: [ { name: once, inputs: [p], tools: [release] } ]
`

// TestWidened checks which changes a configuration may make to its base and which it must not make.
func TestWidened(t *testing.T) {
	for _, c := range []struct{ name, base, local, code, at string }{
		{"nothing", "", "", "", ""},
		{"rules", "", "rules: [ { inline: \"block rm\\nlimit mail to 2 per session\\nrequire 2 human-approval before deploy\" } ]", "", ""},
		{"a net", "", "nets: [ { name: mine, places: [p], initialMarking: { p: 1 }, transitions: [ { name: a, inputs: [p], tools: [push] } ] } ]", "", ""},
		{"a map of its own", "", "rules: [ { inline: \"map exec.command runs rm as gone\\nblock gone\" } ]", "", ""},
		{"evidence", "", "rules: [ { inline: \"map exec.command runs make as test\" } ]", Widens, "petrigate.yaml:4:21"},
		{"an exemption", "", "rules: [ { inline: \"map bash.command runs cat as safe\" } ]", Widens, "petrigate.yaml:4:21"},
		{"an exemption by another name", "", "mcpServers: { sh: { command: x } }\nrules: [ { inline: \"map \\\"sh.bash\\\".command runs rm as safe\" } ]", Widens, "petrigate.yaml:5:21"},
		{"an exemption by the name of an agent's tool", "", "rules: [ { inline: \"map Bash.command runs rm as safe\" } ]", Widens, "petrigate.yaml:4:21"},
		{"an exemption by a pattern", "", "mcpServers: { sh: { command: x } }\nrules: [ { inline: \"map sh*.command runs rm as safe\" } ]", Widens, "petrigate.yaml:5:21"},
		{"an exemption of what may be a shell of an agent", "", "rules: [ { inline: \"map exec.command runs rm as safe\" } ]", Widens, "petrigate.yaml:4:21"},
		{"a restriction by another name", "", "mcpServers: { sh: { command: x } }\nrules: [ { inline: \"map \\\"sh.bash\\\".command runs rm as push\" } ]", "", ""},
		{"allow", "default: deny", "rules: [ { inline: \"allow other\" } ]", Widens, "petrigate.yaml:2:5"},
		{"a limit that makes known", "default: deny", "rules: [ { inline: \"limit other to 9 per session\" } ]", Widens, "petrigate.yaml:2:5"},
		{"deny and nothing", "default: deny", "", "", ""},
		{"deny and less", "default: deny", "rules: [ { inline: \"block push\" } ]", "", ""},
		{"active", "", "nets: [ { name: mine, places: [p], initialMarking: { p: 1 }, transitions: [ { name: a, inputs: [p], tools: [push] } ] } ]\nactive: [mine]", "", ""},
		{"a base that watches", "mode: shadow", "rules: [ { inline: \"block rm\" } ]", "", ""},
		{"an advisory net", "", "nets: [ { name: mine, class: advisory, places: [p], initialMarking: { p: 1 }, transitions: [ { name: a, inputs: [p], tools: [push] } ] } ]", "", ""},
		{"an advisory base", "", "rules: [ { inline: \"block rm\" } ]", NotNarrower, "petrigate.yaml:2:5"},
		{"a shadow of a rule", "", "rules: [ { inline: \"shadow require test before push\" } ]", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := fmt.Sprintf(baseRules, c.base)
			if c.name == "an advisory base" {
				base = strings.Replace(base, "name: gate", "name: gate\n    class: advisory", 1)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "base.yaml"), []byte(base), 0o600); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("extends:\n  - file: base.yaml\n    digest: %s\n%s\n", basefile.Digest([]byte(base)), c.local)
			cfg, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte(text), config.Options{})
			if err != nil {
				t.Fatal(err)
			}
			result, err := policy.Build(policy.FromConfig(cfg))
			if err != nil {
				t.Fatal(err)
			}
			found := Widened(t.Context(), cfg, result)
			switch {
			case c.code == "" && len(found) == 0:
			case len(found) != 1 || found[0].Code != c.code:
				t.Errorf("found %v", found)
			case !strings.HasSuffix(found[0].Position().String(), c.at):
				t.Errorf("at %s: %v", found[0].Position(), found)
			}
		})
	}
}
