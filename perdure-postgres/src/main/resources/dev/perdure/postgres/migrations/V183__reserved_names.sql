-- Perdure: a start from SQL takes no name that is the engine's own.

-- The words are those of Java, where Reserved has the list. The engine's own starts, which its outbox writes here, have definitions of its own.
CREATE FUNCTION ${schema}.refuse_reserved_name() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- What a reaction starts comes through the inbox too, and has the definition and the queue of the workflow that it starts.
    IF NOT starts_with(NEW.queue, 'perdure.') AND EXISTS (
        SELECT FROM ${schema}.reaction w
        WHERE w.starts = NEW.definition AND w.queue = NEW.queue AND starts_with(NEW.id, 'reaction:' || w.name || ':')
    ) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'The % ''%'' begins with ''%'', which is reserved for the engine. Choose another one.',
        CASE WHEN starts_with(NEW.queue, 'perdure.') THEN 'queue' ELSE 'run id' END,
        CASE WHEN starts_with(NEW.queue, 'perdure.') THEN NEW.queue ELSE NEW.id END,
        CASE WHEN starts_with(NEW.queue, 'perdure.') THEN 'perdure.' ELSE substring(NEW.id FROM '^[a-z]+:') END
        USING ERRCODE = 'invalid_parameter_value';
END
$$;

CREATE TRIGGER refuse_reserved_name BEFORE INSERT ON ${schema}.inbox FOR EACH ROW
    WHEN (NEW.wish = 0 AND NOT starts_with(NEW.definition, 'perdure.')
        AND (NEW.id ~ '^(schedule|bulk|reencryption|reaction):' OR starts_with(NEW.queue, 'perdure.')))
    EXECUTE FUNCTION ${schema}.refuse_reserved_name();
