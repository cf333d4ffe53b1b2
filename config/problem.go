package config

import "github.com/petrigate/petrigate/internal/diag"

// A Position is a file, line and column in one of the user's files.
type Position = diag.Position

// An Error is a problem in a configuration, with its position. It never contains the value of a
// reference such as ${env:NAME}, because the value may be secret.
type Error = diag.Problem

// An ErrorList holds all problems in a configuration, in file order.
type ErrorList = diag.List

// Text formats err for users. If err wraps an [ErrorList] or an [Error], the text includes excerpts
// from the file. Otherwise, it is err.Error().
func Text(err error) string { return diag.Text(err) }
