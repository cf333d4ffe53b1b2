package lsp

import "os"

// A sources value caches the contents of files.
type sources struct {
	project *project
	open    map[string]*document
	texts   map[string]*content
}

// text returns the text of a file. If the file is open in the editor, it returns the editor's text;
// otherwise, it reads the file from disk.
func (s *sources) text(path string) *content {
	if d := s.open[path]; d != nil {
		return d.content
	}
	if s.texts[path] == nil {
		src := []byte{}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument {
			src, _ = os.ReadFile(path) // an unreadable file is treated as empty
		}
		s.texts[path] = newContent(string(src))
	}
	return s.texts[path]
}
