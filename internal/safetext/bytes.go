package safetext

import "fmt"

// Bytes is a number of bytes for people, rounded down to a tenth: "512 bytes", "1.5 MiB", "16 GiB".
func Bytes(n int64) string {
	size, unit := float64(n), ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			break
		}
		size, unit = size/1024, next
	}
	switch tenths := int64(size * 10); {
	case unit == "":
		return Count(int(n), "byte")
	case tenths%10 == 0:
		return fmt.Sprintf("%d %s", tenths/10, unit)
	default:
		return fmt.Sprintf("%d.%d %s", tenths/10, tenths%10, unit)
	}
}
