package lsp

import "os"

// sources caches file contents.
type sources struct {
	project *project
	open    map[string]*document
	texts   map[string]*content
}

// text returns a file's text: from the editor if the file is open there, and from disk otherwise.
func (s *sources) text(path string) *content {
	if d := s.open[path]; d != nil {
		return d.content
	}
	if s.texts[path] == nil {
		src := []byte{}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument {
			src, _ = os.ReadFile(path) // without the text, all positions are at the beginning of the file
		}
		s.texts[path] = newContent(string(src))
	}
	return s.texts[path]
}
