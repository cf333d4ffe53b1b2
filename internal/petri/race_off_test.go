//go:build !race

package petri

const underRace = false
