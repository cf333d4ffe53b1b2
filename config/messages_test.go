package config

import (
	"testing"

	"github.com/petrigate/petrigate/internal/messagetest"
)

// TestEveryMessage finds messages that no archive shows.
func TestEveryMessage(t *testing.T) {
	const schema, never = "of the schema, which is generated", "nothing is known that leads to it"
	shown := messagetest.Wanted(t, "testdata/*.txtar") + messagetest.Wanted(t, "testdata/document/*.txtar")
	messagetest.Check(t, shown, map[string]string{
		`"title": "petrigate.yaml"`: schema,
		`"title": "petrigate net"`:  schema,
		"The configuration of petrigate: upstream servers, and the policy that their tools are called under.": schema,
		"Petri nets of tools, for petrigate.": schema,
		"export ":                             "a word of shells",
		"merging the configuration: ":         never,
		"this kind of value is not supported": never,
		"the file is not valid YAML":          never,
	}, "*.go")
}
