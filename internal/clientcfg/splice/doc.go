// Package splice edits entries of other programs' configuration files as text: JSON with or without
// comments, TOML and YAML.
//
// It preserves the rest of a file byte for byte, including comments, line endings, indentation and
// order. After each edit, it parses the result and refuses the edit if any other value has changed.
//
//	doc, err := splice.Parse("mcp.json", src, splice.JSON)
//	at := splice.Place{Path: []string{"mcpServers"}}
//	next, err := doc.Replace(at, []string{"files", "github"}, splice.New{Name: "petrigate", Value: value})
//	...
//	back, err := edited.Restore(at, doc, []string{"files", "github"}, "petrigate")
//
// Edits return new text and never modify the [Document]. Internally, Replace and Restore cut the
// file into segments, and insert or remove only whole segments. In JSON, a segment is a member of
// an object with the comments and white space around it; package hujson parses these. In TOML and
// YAML, a segment consists of whole lines: an entry with the comment above it, or the text between
// two entries.
package splice
