package dev.perdure.examples.shop;

import java.time.LocalDate;
import org.springframework.data.jpa.repository.JpaRepository;

/** The reports, by day. */
public interface SalesReports extends JpaRepository<SalesReport, LocalDate> {}
