package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// slowCheck is a reference implementation of Check on top of encoding/json.
func slowCheck(doc []byte, depth int) bool {
	if !json.Valid(doc) || !utf8.Valid(doc) || bytes.HasPrefix(doc, []byte("\ufeff")) {
		return false
	}
	if loneSurrogate(doc) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if !slowValue(d, depth) {
		return false
	}
	_, err := d.Token()
	return err == io.EOF
}

var (
	escapePattern = regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`)
	pairPattern   = regexp.MustCompile(`^\\u[dD][89abAB]..\\u[dD][c-fC-F]..`)
)

// loneSurrogate checks each escape of a valid document in turn.
func loneSurrogate(doc []byte) bool {
	for {
		at := escapePattern.FindIndex(doc)
		if at == nil {
			return false
		}
		esc := strings.ToLower(string(doc[at[0]:at[1]]))
		switch {
		case pairPattern.Match(doc[at[0]:]):
			doc = doc[at[0]+12:]
			continue
		case strings.HasPrefix(esc, `\ud`) && strings.ContainsRune("89abcdef", rune(esc[3])):
			return true
		}
		doc = doc[at[1]:]
	}
}

func slowValue(d *json.Decoder, depth int) bool {
	tok, err := d.Token()
	if err != nil {
		return false
	}
	switch tok := tok.(type) {
	case string:
		return !strings.Contains(tok, "\x00")
	case json.Delim:
		return depth > 0 && slowMembers(d, tok == '{', depth-1)
	}
	return true
}

func slowMembers(d *json.Decoder, isObject bool, depth int) bool {
	seen := map[string]bool{}
	for d.More() {
		if isObject {
			tok, _ := d.Token()
			key, ok := tok.(string)
			if !ok || seen[key] || strings.Contains(key, "\x00") {
				return false
			}
			seen[key] = true
		}
		if !slowValue(d, depth) {
			return false
		}
	}
	_, err := d.Token()
	return err == nil
}

// checkLookups compares the lookups in a document that Check accepted with the result of
// encoding/json.
func checkLookups(t *testing.T, doc []byte) {
	t.Helper()
	trimmed := bytes.Trim(doc, " \t\r\n")
	if end := Skip(trimmed, 0); end != len(trimmed) {
		t.Fatalf("Skip(%q) = %d", trimmed, end)
	}
	checkMembers(t, doc)
	checkElements(t, doc)
	var s string
	if got, ok := String(trimmed); ok && (json.Unmarshal(doc, &s) != nil || s != got) {
		t.Fatalf("String(%q) = %q, want %q", doc, got, s)
	}
}

func checkMembers(t *testing.T, doc []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	isObject := json.Unmarshal(doc, &want) == nil && want != nil
	n := 0
	whole := Members(doc, func(key, value []byte, at int) bool {
		n++
		if !bytes.Equal(want[string(key)], value) || !bytes.HasPrefix(doc[at:], value) {
			t.Fatalf("Members(%q) yields %q: %q at %d", doc, key, value, at)
		}
		if got, ok := Member(doc, string(key)); !ok || !bytes.Equal(got, value) {
			t.Fatalf("Member(%q, %q) = %q, %v", doc, key, got, ok)
		}
		return true
	})
	if whole != isObject || n != len(want) {
		t.Fatalf("Members(%q) = %v with %d members, want %v with %d", doc, whole, n, isObject, len(want))
	}
}

func checkElements(t *testing.T, doc []byte) {
	t.Helper()
	var want []json.RawMessage
	isArray := json.Unmarshal(doc, &want) == nil && want != nil
	n := 0
	whole := Elements(doc, func(value []byte, at int) bool {
		if n >= len(want) || !bytes.Equal(want[n], value) || !bytes.HasPrefix(doc[at:], value) {
			t.Fatalf("Elements(%q) yields %q at %d", doc, value, at)
		}
		n++
		return true
	})
	if whole != isArray || n != len(want) {
		t.Fatalf("Elements(%q) = %v with %d elements", doc, whole, n)
	}
}
