package toolnet

import "github.com/petrigate/petrigate/internal/diag"

// A Position is a position in a user's file. Line and Column are 1-based. The zero value is an
// unknown position.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, without the unknown parts.
func (p Position) String() string { return diag.Position(p).String() }
