package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// An arg describes a word of a script after expansion, as far as the word is known.
type arg struct {
	kind        argKind
	text        string // known text at the start; for a literal, the whole text
	mid         string // known text between two unknown parts, as in ~/.ssh/*
	tail        string // known text at the end; empty for a literal
	name        bool   // the unknown part is a name or a number, never an option
	glob        bool   // the unknown part comes from a glob and does not begin with a dot
	pipe        bool   // the argument is a process substitution
	setUp       bool   // the argument consists only of the output of a program that prints settings for a shell, such as ssh-agent
	isArguments bool   // the argument consists only of the enclosing function's arguments
	split       bool   // the argument is an unquoted expansion that the shell may split, but that is usually one word; always false under [Options.Strict]
}

// An argKind describes how much of an argument is known.
type argKind uint8

const (
	literal  argKind = iota // the argument is exactly the known text
	single                  // the argument is one word that consists of known text, an unknown part, and a known tail
	spread                  // the argument is one or more words, each with the same known parts, for example from a glob
	anything                // the argument may expand to any number of unknown words
)

// canBe reports whether the argument can expand to the given word.
func (a arg) canBe(word string) bool {
	if a.kind == literal {
		return a.text == word
	}
	return len(word) >= len(a.text)+len(a.tail) && strings.HasPrefix(word, a.text) && strings.HasSuffix(word, a.tail)
}

// cut splits the argument at its first equals sign.
func (a arg) cut() (name string, value arg, ok bool) {
	name, text, ok := strings.Cut(a.text, "=")
	value, value.text = a, text
	return name, value, ok
}

// base returns the program name in a command word. sure reports whether the name is certain. system
// reports whether the program is assumed to be in one of the systemDirs.
func (a arg) base() (name string, sure, system bool) {
	switch {
	case a.kind == literal && strings.Contains(a.text, `:\`) && !strings.Contains(a.text, "/"):
		return a.text[strings.LastIndexByte(a.text, '\\')+1:], true, false // a Windows path such as C:\x\y.exe
	case a.kind == literal && !strings.Contains(a.text, "/"):
		return a.text, true, true
	case a.kind == literal:
		return path.Base(a.text), true, isSystem(a.text)
	case a.kind == single && strings.Contains(a.tail, "/"):
		return path.Base(a.tail), true, false
	}
	return "", false, false
}

// isLocalBin reports whether the argument is a path to a file that is assumed to be in a project's
// bin directory, such as node_modules/.bin/jest or .venv/bin/pytest. Every directory called bin,
// .bin or Scripts counts, unless the path contains .. or begins with /tmp/, /var/ or /dev/.
func isLocalBin(a arg) bool {
	at := a.text
	if a.kind != literal {
		at = a.tail
	}
	if strings.HasPrefix(at, "/tmp/") || strings.HasPrefix(at, "/var/") || strings.HasPrefix(at, "/dev/") || strings.Contains(at, "..") {
		return false
	}
	return slices.Contains([]string{"bin", ".bin", "Scripts"}, path.Base(path.Dir(at)))
}

// systemDirs lists the system's program directories.
var systemDirs = setOf("/bin /sbin /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin")

// isSystem reports whether the path p is in one of the system's program directories.
func isSystem(p string) bool {
	return !strings.Contains(p, "..") && systemDirs[path.Dir(path.Clean(p))]
}

// size returns the number of known bytes in the argument.
func (a arg) size() int { return len(a.text) + len(a.mid) + len(a.tail) }

// sizes returns the total number of known bytes in the given arguments.
func sizes(list []arg) (n int) {
	for _, a := range list {
		n += a.size()
	}
	return n
}

// file returns the base name of the file that the argument names, without a prefix such as of= or
// host:.
func (a arg) file() string {
	text := a.text
	if a.kind != literal {
		text = a.tail
	}
	text = text[strings.IndexByte(text, '=')+1:]
	return path.Base(text[strings.LastIndexByte(text, ':')+1:])
}

// literals converts words to literal arguments.
func literals(words []string) []arg {
	return list.Map(words, func(word string) arg { return arg{text: word} })
}

// matchWord returns the first of the space-separated words that matches the argument, or "" if none
// does. The word --name also matches abbreviations of that option, with or without an attached
// value. The word -x also matches a group of option letters that contains x, such as -vx. The word
// =name matches an argument that equals name or begins with name=. Any other word matches an
// argument that contains it; a * at the start of such a word is ignored.
func (a arg) matchWord(words string) string {
	name, _, with := strings.Cut(a.text, "=")
	for word := range strings.FieldsSeq(words) {
		found := false
		switch {
		case strings.HasPrefix(word, "--"):
			found = len(name) > 2 && strings.HasPrefix(word, name)
		case word[0] == '-':
			found = isCluster(a.text) && strings.Contains(a.text, word[1:])
		case word[0] == '=':
			found = name == word[1:] && (a.kind == literal || with)
		default:
			part := strings.TrimPrefix(word, "*")
			found = strings.Contains(a.text, part) || strings.Contains(a.tail, part)
		}
		if found {
			return word
		}
	}
	return ""
}

// isInteger reports whether the argument is a plain number.
func isInteger(a arg) bool {
	return a.kind == literal && strings.Trim(a.text, "+-0123456789") == ""
}

// startsWith reports whether the first elements of args match the given words, one by one. A * in a
// word matches any text.
func startsWith(args []arg, words []string) bool {
	return len(args) >= len(words) && slices.EqualFunc(args[:len(words)], words, func(a arg, w string) bool {
		return a.kind == literal && (a.text == w || matchStar(w, a.text))
	})
}

// matchesAny reports whether any of the arguments matches any of the words; see [arg.matchWord].
func matchesAny(args []arg, words string) bool {
	return words != "" && slices.ContainsFunc(args, func(a arg) bool { return a.matchWord(words) != "" })
}

// allLiteral reports whether all arguments are fully known.
func allLiteral(args []arg) bool {
	return !slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal })
}
