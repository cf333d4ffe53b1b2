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
// A [Document] has a body that depends on the format. For JSON, the body uses the syntax tree of
// package hujson, which preserves comments and white space. TOML and YAML are cut into segments of
// whole lines: one segment for each entry with the comment above it, and one for the text between
// two entries. For all formats, the same functions (replaced and restored) edit the segments. Edits
// return new text and never modify the Document.
package splice
