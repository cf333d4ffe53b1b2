package callclass

// Limits on the number of enumerated classes.
const (
	maxClassesOfTool = 2048
	maxClasses       = 8192
	maxMapsOfField   = 8 // maximum number of a field's maps whose subsets are all tried
	maxListed        = 5 // maximum number of a field's maps whose subsets are all enumerated in advance
)
