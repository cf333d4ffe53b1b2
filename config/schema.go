package config

import (
	_ "embed"
	"strings"
)

// schema is the JSON Schema of a configuration. Read-only. A test holds its
// keys to those that the decoder knows.
//
//go:embed petrigate.schema.json
var schema string

// Schema returns the JSON Schema (2020-12) of a configuration, for editors.
func Schema() string { return schema }

// NetSchema returns the JSON Schema of a file of nets.
func NetSchema() string {
	return strings.NewReplacer(
		"#/$defs/configuration", "#/$defs/netFile",
		"petrigate/petrigate.schema.json", "petrigate/net.schema.json",
		`"title": "petrigate.yaml"`, `"title": "petrigate net"`,
		"The configuration of petrigate: upstream servers, and the policy that their tools are called under.", "Petri nets of tools, for petrigate.",
	).Replace(schema)
}
