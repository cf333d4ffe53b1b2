package shell

import (
	"errors"
	"path"
	"regexp"
	"strings"
)

// An Access is a kind of file access: reading or writing.
type Access uint8

// The two kinds of access.
const (
	Reads Access = iota
	Writes
)

// String returns "reads" or "writes".
func (a Access) String() string { return [...]string{"reads", "writes"}[a] }

// A file describes how a script explicitly accesses a file. If the path has the kind [anything],
// the file's name is unknown.
type file struct {
	access   Access
	path     arg
	from, to int
}

// A FilePattern is a glob that matches file paths, for use with [Reading.Touches]. Create one with
// [CompileFiles].
type FilePattern struct {
	access Access
	glob   string
}

// CompileFiles returns a pattern for files that a script reads or writes. A glob without a slash is
// matched against the base name of a file. Any other glob is matched against the path and against
// its suffixes. A * matches any text, including slashes.
func CompileFiles(access Access, glob string) (FilePattern, error) {
	switch {
	case glob == "":
		return FilePattern{}, errors.New("a file pattern must not be empty")
	case strings.ContainsAny(glob, "[]{}?"):
		return FilePattern{}, errors.New("in a file pattern, only * stands for other text")
	}
	return FilePattern{access, strings.ReplaceAll(strings.TrimPrefix(glob, "./"), "**/", "*")}, nil
}

// matchesArg reports whether the path given by an argument matches the pattern.
func (p *FilePattern) matchesArg(at arg) Outcome {
	any := strings.Trim(p.glob, "*") == ""
	switch {
	case at.kind == literal && p.matches(at.text), at.kind != literal && any:
		return Match
	case at.kind == literal, at.text+at.mid+at.tail == "":
		return NoMatch
	}
	if i := strings.IndexByte(at.mid, '/'); i >= 0 {
		at.text, at.mid, at.glob = at.mid[i+1:], "", at.kind == spread
		return p.matchesArg(at)
	}
	text, tail := at.text[strings.LastIndexByte(at.text, '/')+1:], at.tail
	if at.glob && text == "" && strings.HasPrefix(path.Base(p.glob), ".") && !strings.Contains(tail, "/") {
		return NoMatch // a glob such as * does not match names that begin with a dot
	}
	if strings.Contains(p.glob, "/") {
		return p.matchesPath(at)
	}
	i := strings.LastIndexByte(tail, '/')
	switch {
	case i >= 0 && p.matches(tail[i+1:]):
		return Match
	case i >= 0, text+tail == "":
		return NoMatch
	}
	return couldBe(p.glob, text, tail)
}

// matchesPath matches the pattern against a path with an unknown part in the middle. If the unknown
// part is in the file name, it is assumed to contain no slash. The pattern's glob must contain a
// slash.
func (p *FilePattern) matchesPath(at arg) Outcome {
	glob := strings.TrimPrefix(p.glob, "~/")
	if _, after, ok := strings.Cut(at.tail, "/"); ok && matchesSuffix(glob, after) {
		return Match
	}
	folder, file := path.Split(glob)
	in, name := path.Split(at.text)
	switch {
	case in == "" || strings.Contains(at.tail, "/") || !matchesSuffix(strings.TrimSuffix(folder, "/"), path.Clean(in)):
		return NoMatch
	case strings.Trim(file, "*") == "":
		return Match
	}
	return couldBe(file, name, at.tail)
}

// matchesSuffix reports whether glob matches a path or any suffix of the path that begins after a
// slash.
func matchesSuffix(glob, at string) bool {
	for ok := true; ok; _, at, ok = strings.Cut(at, "/") {
		if matchStar(glob, at) {
			return true
		}
	}
	return false
}

// couldBe returns Opaque if the glob can match a string that begins with text and ends with tail.
// Otherwise, it returns NoMatch.
func couldBe(glob, text, tail string) Outcome {
	before, _, _ := strings.Cut(glob, "*")
	after := glob[strings.LastIndexByte(glob, '*')+1:]
	if compatible(before, text, strings.HasPrefix) && compatible(after, tail, strings.HasSuffix) {
		return Opaque
	}
	return NoMatch
}

// compatible reports whether has is true for a and b in either order. With [strings.HasPrefix], for
// example, it reports whether one of the strings begins with the other.
func compatible(a, b string, has func(string, string) bool) bool { return has(a, b) || has(b, a) }

// outputExtensions lists the extensions of files that hold command output.
var outputExtensions = setOf(".log .out .err .tmp .pid")

// homes matches users' home directories.
var homes = regexp.MustCompile(`^(/root|/home/[^/]+|/Users/[^/]+)/`)

// isTemporary reports whether a path names a directory for temporary files or anything inside one.
func isTemporary(at string) bool { return begins(at+"/", "/tmp/ /var/tmp/ /private/tmp/ /dev/") }

// isOutput reports whether a file with this name is likely to contain command output.
func isOutput(name string) bool {
	return outputExtensions[path.Ext(name)] || strings.HasSuffix(name, ".txt") && (strings.Contains(name, "output") || strings.Contains(name, "result") || strings.Contains(name, "log"))
}

// matches reports whether a path that is fully known matches the pattern.
func (p *FilePattern) matches(at string) bool {
	clean := path.Clean(at)
	if glob, ok := strings.CutPrefix(p.glob, "~/"); ok {
		return matchStar(p.glob, clean) || matchStar(glob, homes.ReplaceAllString(clean, ""))
	}
	if strings.HasPrefix(p.glob, "/") {
		return matchStar(p.glob, clean)
	}
	if p.access == Writes && (isTemporary(clean) || strings.Trim(p.glob, "*") == "" && isOutput(path.Base(clean))) {
		return false // writing temporary files and command output does not change the project
	}
	if !strings.Contains(p.glob, "/") {
		return matchStar(p.glob, path.Base(clean))
	}
	return matchesSuffix(p.glob, clean)
}
