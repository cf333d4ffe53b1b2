package toolnet

import "github.com/petrigate/petrigate/internal/diag"

// A Position is a position in a file of the user. Line and Column are 1-based; the zero value is an
// unknown position.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, without the parts that are unknown.
func (p Position) String() string { return diag.Position(p).String() }
