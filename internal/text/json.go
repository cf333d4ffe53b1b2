package text

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PlainJSON returns equivalent JSON without Unicode escapes for visible characters, such as \u0026
// for &. Quotes, backslashes and the characters that [Escape] escapes stay escaped.
func PlainJSON(doc []byte) []byte {
	if !bytes.Contains(doc, []byte(`\u`)) {
		return doc
	}
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		size := 1
		if doc[i] == '\\' && i+1 < len(doc) {
			r, n := escaped(doc[i:])
			if size = n; r >= ' ' && r != '"' && r != '\\' && r != utf8.RuneError && !hidden(r) {
				out, i = utf8.AppendRune(out, r), i+size
				continue
			}
		}
		out, i = append(out, doc[i:i+size]...), i+size
	}
	return out
}

// escaped decodes the \u escape at the start of s, and returns the character and the length of the
// escape. It returns utf8.RuneError if s does not start with such an escape, or starts with only
// half of a surrogate pair.
func escaped(s []byte) (r rune, size int) {
	r, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(s[6:]); ok {
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 parses \u and four hexadecimal digits.
func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}

// QuoteJSON encodes a string as JSON, without escaping HTML characters.
func QuoteJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail for a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// commands lists common names of tool arguments that hold a script.
var commands = []string{"command", "cmd", "script"}

// Command returns the arguments of a call on one line. If the tool runs a script, the script comes
// first, followed by the other arguments as JSON. Command returns "" if there are no arguments. It
// does not escape the result.
func Command(args []byte) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return ""
	}
	for _, name := range commands {
		script, ok := scriptIn(all[name])
		if !ok {
			continue
		}
		if delete(all, name); len(all) == 0 {
			return script
		}
		rest, _ := json.Marshal(all) // cannot fail, because the values are JSON
		return script + " " + string(PlainJSON(rest))
	}
	var line bytes.Buffer
	if len(all) == 0 || json.Compact(&line, args) != nil {
		return ""
	}
	return string(PlainJSON(line.Bytes()))
}

// scriptIn returns the script in an argument, which is either a string or a list of words.
func scriptIn(value json.RawMessage) (script string, ok bool) {
	var words []string
	switch {
	case json.Unmarshal(value, &script) == nil:
		return script, script != ""
	case json.Unmarshal(value, &words) == nil:
		return strings.Join(words, " "), len(words) > 0 && !slices.Contains(words, "")
	}
	return "", false
}
