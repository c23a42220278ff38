-- Perdure: payloads for people who ask in SQL are shown as they are also where standard_conforming_strings is off.

-- Its text names bytes with a backslash.
ALTER FUNCTION ${schema}.payload_json(bytea) SET standard_conforming_strings = on;
