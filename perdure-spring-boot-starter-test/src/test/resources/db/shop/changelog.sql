--liquibase formatted sql

--changeset shop:1
CREATE TABLE sale (item text);
GRANT SELECT, INSERT ON sale TO shop_worker;

--changeset shop:2
CREATE SCHEMA perdure AUTHORIZATION shop_worker;
