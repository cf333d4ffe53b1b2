package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the work. A script that exceeds one of them is opaque.
const (
	maxScript = 1 << 20 // bytes of a script
	maxWeight = 20_000  // estimated nesting, see weight
	maxPieces = 25_000  // words and separators, see pieces
	maxWork   = 40_000  // pieces, including those of nested scripts
	maxArgs   = 100_000 // arguments of all commands; arguments of wrappers count again for the wrapped command
	maxLooks  = 100_000 // arguments compared with all patterns together
	maxName   = 1024    // bytes of a command name; file systems allow 255
	maxDepth  = 10_000  // depth of nested nodes
	maxTexts  = 16      // depth of nested scripts, such as sh -c "sh -c ..."

	piecesOfParser = 8 // pieces charged for each call of the parser, even for an empty script
)

// parse parses a script. It reports a panic in the parser as an error.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = syntax.ParseError{Text: "the parser gave up"}
		}
	}()
	for range maxCommentRounds {
		file, err = syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil {
			return nil, err
		}
		ended := endComments(file, text)
		if ended == text {
			return file, nil
		}
		text = ended
	}
	return nil, syntax.ParseError{Text: "a comment that ends with a backslash hides the next line"}
}

// maxCommentRounds bounds the rounds of endComments.
const maxCommentRounds = 8

// endComments replaces each backslash that ends a comment line by a space. A shell ends the comment
// at the newline, whereas the parser joins the next line to the command before the comment.
func endComments(file *syntax.File, text string) string {
	if !strings.Contains(text, "#") || !strings.Contains(text, "\\\n") {
		return text
	}
	ended := []byte(text)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is && strings.HasSuffix(c.Text, "\\\n") {
			begin := int(c.Hash.Offset()) //nolint:gosec // within the text
			if i := strings.Index(text[begin:], "\\\n"); i >= 0 {
				ended[begin+i] = ' '
			}
		}
		return true
	})
	return string(ended)
}

// unreadable returns the reason why text must not be parsed, or "". Shells, and people, disagree
// about control characters and unusual spaces.
func unreadable(text string) string {
	if len(text) > maxScript {
		return "a script that is too long"
	}
	if !utf8.ValidString(text) {
		return "a script that is not UTF-8"
	}
	for _, c := range text {
		switch {
		case c == '\n' || c == '\t' || ' ' <= c && c < 0x7f:
		case c >= utf8.RuneSelf && unicode.IsPrint(c): // the common case, checked first
		case c < utf8.RuneSelf, unicode.Is(unicode.C, c), unicode.IsSpace(c), unicode.Is(unicode.Z, c):
			return "a control character or an unusual space"
		}
	}
	if weight(text) > maxWeight {
		return "a script that may be nested too deeply"
	}
	return ""
}

// weight returns an upper bound for the parser's recursion on text, in units of roughly three
// kilobytes of stack. The parser has no bound of its own.
func weight(text string) int {
	if len(text) < 1<<10 {
		return 0
	}
	n := 3*strings.Count(text, "(") + 2*strings.Count(text, "{") + 2*strings.Count(text, "[")
	for _, op := range []string{"|", "&", "!", "?", "~", "=", "+", "-", ":"} {
		n += strings.Count(text, op)
	}
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "time", "coproc", "function"} {
		n += 2 * strings.Count(text, word)
	}
	return n
}

// pieces returns an upper bound for the parser's work: the words in text, plus the characters that
// can split a word into parts.
func pieces(text string) int {
	n, before := 0, 1
	for i := range len(text) {
		kind := kinds[text[i]]
		n += int(kind>>1) + before&^int(kind)
		before = int(kind & 1)
	}
	return n
}

// kinds maps a byte to 1 if it separates words, and to 2 if it can split a word.
var kinds = func() (k [256]byte) {
	for _, c := range []byte(" \t\n") {
		k[c] = 1
	}
	for _, c := range []byte(";&|<>()$`'\"{}[") {
		k[c] = 2
	}
	return k
}()
