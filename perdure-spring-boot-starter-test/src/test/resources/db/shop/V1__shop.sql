CREATE TABLE sale (item text);
GRANT SELECT, INSERT ON sale TO shop_worker;
