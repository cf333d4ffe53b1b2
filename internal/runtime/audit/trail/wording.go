package trail

import "github.com/petrigate/petrigate/internal/text"

// Records formats a record count, such as "3 records".
func Records(n uint64) string {
	if n == 1 {
		return "1 record"
	}
	return text.Grouped(int(n)) + " records"
}

// recordsAre formats a record count as the subject of a sentence, followed by the verb.
func recordsAre(n uint64) string {
	if n == 1 {
		return "1 record is"
	}
	return Records(n) + " are"
}

// TimeStamp is the layout of times in command output.
const TimeStamp = "2006-01-02T15:04:05Z"
