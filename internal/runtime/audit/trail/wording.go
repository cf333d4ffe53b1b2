package trail

import "github.com/petrigate/petrigate/internal/text"

// Records formats a number of records, such as "3 records".
func Records(n uint64) string {
	if n == 1 {
		return "1 record"
	}
	return text.Grouped(int(n)) + " records"
}

// recordsAre formats a number of records followed by the verb, such as "3 records are".
func recordsAre(n uint64) string {
	if n == 1 {
		return "1 record is"
	}
	return Records(n) + " are"
}

// TimeStamp is the layout of times in command output.
const TimeStamp = "2006-01-02T15:04:05Z"
