-- Runs of one page are often updated together: claimed from a queue, woken, handed over, ended, hundreds in a batch. Room for a
-- second version of each lets those updates stay on their page (HOT); with less, most of them went elsewhere, and into every
-- index. Holds for pages that are written from now on.
ALTER TABLE ${schema}.run SET (fillfactor = 50);
