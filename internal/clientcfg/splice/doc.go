// Package splice edits entries of configuration files of other programs as text: JSON with
// or without comments, TOML and YAML. Comments, line ends, indentation and the order of
// everything else stay as they are, byte for byte. The result of each edit is parsed again
// and compared with what was there before; an edit that would change anything else is
// refused.
//
//	doc, err := splice.Parse("mcp.json", src, splice.JSON)
//	at := splice.Place{Path: []string{"mcpServers"}}
//	next, err := doc.Replace(at, []string{"files", "github"}, splice.New{Name: "petrigate", Value: value})
//	...
//	back, err := edited.Restore(at, doc, []string{"files", "github"}, "petrigate")
package splice
