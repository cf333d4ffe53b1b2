package cel

import (
	"errors"
	"path"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// pathFunctions returns the CEL functions on paths.
func pathFunctions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("clean", cel.Overload("clean_string", []*cel.Type{cel.StringType}, cel.StringType,
			cel.UnaryBinding(func(p ref.Val) ref.Val { return types.String(path.Clean(string(p.(types.String)))) }))),
		cel.Function("within", cel.Overload("within_string_string", []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(p, dir ref.Val) ref.Val {
				where := within(string(p.(types.String)), string(dir.(types.String)))
				if where == unknown {
					return types.WrapErr(errPlace)
				}
				return types.Bool(where == inside)
			}))),
	}
}

// A place tells whether a path is inside a directory, as far as the text of the two paths shows.
type place uint8

const (
	unknown place = iota
	inside        // the path is the directory or below it
	outside
)

// errPlace is the error for a path that might be inside or outside the directory. It makes the
// expression fail.
var errPlace = errors.New("cannot tell whether the path is within the directory: only one of them is absolute or has a drive, it begins with ~, or systems read it differently")

// within determines, from the text alone, whether the path p is dir or below it. It takes into
// account that, on some operating systems, a backslash is a separator and a letter with a colon,
// such as C:, is a drive. The result is unknown if only one of the paths is absolute, or if one of
// them begins with ~, because the working directory and the home directory are unknown.
func within(p, dir string) place {
	if p == "" || dir == "" || strings.ContainsRune(p+dir, 0) || strings.HasPrefix(p, "~") || strings.HasPrefix(dir, "~") {
		return unknown
	}
	pDrive, pRest := drive(p)
	dirDrive, dirRest := drive(dir)
	switch {
	case strings.EqualFold(pDrive, dirDrive):
	case pDrive != "" && dirDrive != "":
		return outside
	default:
		return unknown
	}
	if !strings.Contains(pRest+dirRest, `\`) {
		return below(pRest, dirRest)
	}
	forward := strings.NewReplacer(`\`, "/")
	there := below(forward.Replace(pRest), forward.Replace(dirRest))
	if pDrive == "" && !strings.Contains(dirRest, `\`) && below(pRest, dirRest) != there {
		return unknown
	}
	return there
}

// drive splits off a drive such as "C:" from a path.
func drive(p string) (drive, rest string) {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	if len(p) >= 2 && p[1] == ':' && letter(p[0]) {
		return p[:2], p[2:]
	}
	return "", p
}

// below determines whether p is dir or below it. Both paths use slashes as separators.
func below(p, dir string) place {
	if hasDisguisedParent(p) || path.IsAbs(p) != path.IsAbs(dir) {
		return unknown
	}
	host := strings.HasPrefix(p, "//") != strings.HasPrefix(dir, "//") // on some systems, the text after a leading // is a host name
	p, pUp := splitParents(path.Clean(p))
	dir, dirUp := splitParents(path.Clean(dir))
	switch {
	case pUp < dirUp && dir == "", pUp == dirUp && (p == dir || dir == "" || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")):
		if host {
			return unknown
		}
		return inside
	case pUp < dirUp, pUp > dirUp && p != "": // the names of the parent directories are unknown
		return unknown
	}
	return outside
}

// splitParents splits a clean path into its leading ".." elements and the rest. It returns the
// number of these elements.
func splitParents(p string) (rest string, ups int) {
	if p == "." {
		return "", 0
	}
	for p == ".." || strings.HasPrefix(p, "../") {
		p, ups = strings.TrimPrefix(p[2:], "/"), ups+1
	}
	return p, ups
}

// hasDisguisedParent reports whether an element of the path could mean ".." because some systems
// drop spaces and dots at the end of a name.
func hasDisguisedParent(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 2 && strings.HasPrefix(part, "..") && strings.Trim(part, ". ") == "" {
			return true
		}
	}
	return false
}
