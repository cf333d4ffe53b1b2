package lsp

import "os"

// sources caches file contents.
type sources struct {
	project *project
	open    map[string]*document
	texts   map[string]*content
}

// text returns the text of a file. If the file is open in the editor, the text comes from the
// editor; otherwise, it comes from disk.
func (s *sources) text(path string) *content {
	if d := s.open[path]; d != nil {
		return d.content
	}
	if s.texts[path] == nil {
		src := []byte{}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument {
			src, _ = os.ReadFile(path) // if the file cannot be read, all positions are at its beginning
		}
		s.texts[path] = newContent(string(src))
	}
	return s.texts[path]
}
