package examples

import (
	"encoding/json"
	"regexp"
	"testing"
)

// TestPagesHaveEveryKey checks that the pages about the configuration name each of its keys.
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
	for _, page := range []string{"configuration", "nets", "servers", "http", "oauth"} {
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
