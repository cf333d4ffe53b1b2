package lsp

import "os"

// sources caches the texts of files.
type sources struct {
	project *project
	open    map[string]*document
	texts   map[string]*content
}

// text returns the text of a file: from the editor if it is open there, otherwise from the disk.
func (s *sources) text(path string) *content {
	if d := s.open[path]; d != nil {
		return d.content
	}
	if s.texts[path] == nil {
		src := []byte{}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() <= maxDocument {
			src, _ = os.ReadFile(path) // without it, all positions are the beginning of the file
		}
		s.texts[path] = newContent(string(src))
	}
	return s.texts[path]
}
