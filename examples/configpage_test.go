package examples

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/petrigate/petrigate/config"
)

// TestConfigurationPage loads what the page shows, with the files that it names.
func TestConfigurationPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"rules/a.rules": "block shutdown\n", "pipeline.net.yaml": read(t, "deployment-pipeline/pipeline.net.yaml")} {
		if name == "pipeline.net.yaml" {
			text = regexp.MustCompile(`(?m)^name: .*$`).ReplaceAllString(text, "name: pipeline")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	for _, block := range fence.FindAllStringSubmatch(read(t, "../docs/configuration.md"), -1) {
		seen[block[1]]++
		switch block[1] {
		case "yaml":
			c, err := config.Parse(filepath.Join(dir, "petrigate.yaml"), []byte(block[2]), config.Options{Env: atHome})
			if err != nil {
				t.Fatal(config.Text(err))
			}
			build(t, c)
		case "net":
			checkNet(t, block[2])
		default:
			t.Errorf("a block of kind %q is not checked", block[1])
		}
	}
	if seen["yaml"] != 1 || seen["net"] != 2 {
		t.Errorf("blocks: %v", seen)
	}
}

// TestPagesHaveEveryKey: there is no key of the configuration that the pages
// about it do not name.
func TestPagesHaveEveryKey(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct {
				Ref string `json:"$ref"`
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(read(t, "../config/petrigate.schema.json")), &schema); err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, page := range []string{"configuration", "servers", "http", "oauth"} {
		text += read(t, "../docs/"+page+".md")
	}
	keys := 0
	for def, one := range schema.Defs {
		for key, property := range one.Properties {
			if property.Ref == "#/$defs/ofClient" || def == "netFile" {
				continue
			}
			keys++
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(key) + `\b`).MatchString(text) {
				t.Errorf("no page names the key %q of %s", key, def)
			}
		}
	}
	if keys < 90 {
		t.Errorf("the schema has only %d keys", keys)
	}
}
