CREATE TABLE stock_item (
    item      text PRIMARY KEY,
    available int NOT NULL CHECK (available >= 0)
);

CREATE TABLE purchase (
    number   text PRIMARY KEY,
    item     text NOT NULL,
    quantity int NOT NULL,
    status   text NOT NULL,
    tracking text
);

CREATE TABLE sales_report (
    day     date PRIMARY KEY,
    shipped bigint NOT NULL
);

INSERT INTO stock_item VALUES ('book', 10), ('piano', 1);
