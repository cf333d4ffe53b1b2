package cel

import (
	"path"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// paths are the functions on paths.
func paths() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("clean", cel.Overload("clean_string", []*cel.Type{cel.StringType}, cel.StringType,
			cel.UnaryBinding(func(p ref.Val) ref.Val { return types.String(path.Clean(string(p.(types.String)))) }))),
		cel.Function("within", cel.Overload("within_string_string", []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(p, dir ref.Val) ref.Val {
				return types.Bool(within(string(p.(types.String)), string(dir.(types.String))))
			}))),
	}
}

// within reports whether the path names dir or something below it, by the text
// alone. Where systems read the text differently it must be so for all of
// them: a backslash separates on one, a letter with a colon is a drive.
func within(p, dir string) bool {
	if p == "" || dir == "" || strings.ContainsRune(p, 0) || strings.HasPrefix(p, "~") {
		return false
	}
	pDrive, pRest := drive(p)
	dirDrive, dirRest := drive(dir)
	if !strings.EqualFold(pDrive, dirDrive) {
		return false
	}
	if !strings.Contains(pRest, `\`) {
		return below(pRest, dirRest)
	}
	forward := strings.NewReplacer(`\`, "/")
	return (pDrive != "" || strings.Contains(dirRest, `\`) || below(pRest, dirRest)) &&
		below(forward.Replace(pRest), forward.Replace(dirRest))
}

// drive splits "C:" from a path.
func drive(p string) (drive, rest string) {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	if len(p) >= 2 && p[1] == ':' && letter(p[0]) {
		return p[:2], p[2:]
	}
	return "", p
}

// below compares two paths whose separator is the slash.
func below(p, dir string) bool {
	if disguised(p) || strings.HasPrefix(p, "//") != strings.HasPrefix(dir, "//") {
		return false
	}
	p, dir = path.Clean(p), path.Clean(dir)
	if path.IsAbs(p) != path.IsAbs(dir) {
		return false // where the other begins is not known
	}
	switch {
	case p == dir, dir == "/":
		return true
	case dir == ".":
		return p != ".." && !strings.HasPrefix(p, "../")
	}
	rest, ok := strings.CutPrefix(p, dir+"/")
	return ok && rest != ".." && !strings.HasPrefix(rest, "../") // of ".." only: "../.." is not below it
}

// disguised reports whether a part of the path is a ".." to a system that
// drops the spaces and dots at the end of names.
func disguised(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 2 && strings.HasPrefix(part, "..") && strings.Trim(part, ". ") == "" {
			return true
		}
	}
	return false
}
