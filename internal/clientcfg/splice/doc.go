// Package splice edits entries of other programs' configuration files as text: JSON with or without
// comments, TOML and YAML.
//
// Comments, line ends, indentation and the order of everything else are preserved byte for byte.
// The result of each edit is parsed again and compared with the original; an edit that would change
// any other value is refused.
//
//	doc, err := splice.Parse("mcp.json", src, splice.JSON)
//	at := splice.Place{Path: []string{"mcpServers"}}
//	next, err := doc.Replace(at, []string{"files", "github"}, splice.New{Name: "petrigate", Value: value})
//	...
//	back, err := edited.Restore(at, doc, []string{"files", "github"}, "petrigate")
//
// A [Document] has a body for its format. JSON uses the syntax tree of package hujson, which keeps
// comments and white space. TOML and YAML are cut into segments of whole lines: one for each entry,
// with the comment above it, and one for the text between entries. Both kinds are edited with the
// same functions on segments (replaced and restored). Edits return new text and never modify the
// Document.
package splice
