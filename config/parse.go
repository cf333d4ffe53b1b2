package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// read parses the bytes of a file into a tree. If the file is not YAML, read records the problem in
// s.errs and returns nil. If the file is empty, read returns nil, and the caller must report the
// problem.
func (s *source) read(src []byte) *node {
	text, ok := s.normalize(src)
	if !ok {
		return nil
	}
	n, ok := readJSON(text)
	if !ok && looksJSON(text) {
		n, ok = readJSON(withoutComments(text))
	}
	if ok {
		s.guessSecrets, s.json = false, true
		return n
	}
	if len(text) > maxYAML {
		s.add(0, 0, "the file is too large", "at most 1 MiB of YAML")
		return nil
	}
	n = s.readYAML(text)
	s.guessSecrets = n == nil
	return n
}

// normalize returns the text of a file with normalized line endings and without a byte order mark.
// If the file is too large or is not UTF-8, normalize records the problem and returns false. It
// also rejects control characters, unless the file looks like JSON.
func (s *source) normalize(src []byte) (string, bool) {
	if len(src) > maxSize {
		s.add(0, 0, "the file is too large", "at most 4 MiB")
		return "", false
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	line, column, flow := 1, 1, looksJSON(text)
	if flow { // a lone \r is white space in JSON but ends a line in YAML
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	s.lines, s.guessSecrets = strings.Split(text, "\n"), true
	for i, r := range text {
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			s.add(line, column, "the file is not UTF-8 here", "save it as UTF-8")
			return "", false
		case r < ' ' && r != '\t', r == 0x7f, r == 0x85, r == 0x2028, r == 0x2029:
			if !flow {
				s.add(line, column, "a control character is not allowed here", fmt.Sprintf(`delete it, or write it in double quotes as \u%04x`, r))
				return "", false
			}
		}
		column++
	}
	return text, true
}
